SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.trialrun_alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.trialrun_attempts (
    run_id character varying(64) NOT NULL,
    "position" integer NOT NULL,
    attempt integer NOT NULL,
    fingerprint character varying(64) NOT NULL,
    status character varying(16) NOT NULL,
    error text,
    duration_ms double precision,
    total_tokens bigint,
    cost_usd double precision,
    recorded_at timestamp with time zone NOT NULL,
    result bytea NOT NULL,
    trace bytea
);
CREATE TABLE public.trialrun_planned (
    run_id character varying(64) NOT NULL,
    "position" integer NOT NULL,
    suite text NOT NULL,
    agent text,
    "case" text NOT NULL,
    tags text NOT NULL
);
CREATE TABLE public.trialrun_runs (
    id character varying(64) NOT NULL,
    spec text NOT NULL,
    spec_key text NOT NULL,
    state character varying(16) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    planned integer NOT NULL,
    repeat integer NOT NULL,
    trialrun character varying(64) NOT NULL,
    settings text NOT NULL,
    warnings text NOT NULL
);
INSERT INTO public.trialrun_alembic_version VALUES ('0001');
INSERT INTO public.trialrun_attempts VALUES ('20261118-023400-pjgw', 0, 1, '4f9c178aa128f32d', 'pass', NULL, 0.09455200006414088, 120, 0.25, '2026-11-18 02:34:00.30461+00', '\x785e9553ed6e83300c7c1594dfd554aa76ea7895aa4251704bd490b0c4e987aabefb2e40518bd0b4f10b63fbee7c3677a164a0d2ca8644213c1da2adc44204961c03beb43204c446dec823be0be5bc27c596f01de1b450d5a44ec8ecee62c0a46b8b7aaa4a6d4b69c385fc0c7ea03379cd37301ea436a86840208f49544add3226df643a64da665c5336203df68f053472fd4f2dec9c49734de5bfe8b8486fdf7424dae7305907906118ca62a04a7442940bfc37218dbc96a9ba8c61ceeedf645c34d7830946379a7bea64df412bc9dad93709e1a45b81024fec359da599c922dda4b4ea17d7bf3f6f2230b5d01a2dc30df447ec64f5b15c8868415ec0426a0318a67dec4e64315f5ae2d898af962fad5d495a43458cad7707654c532a6952903fe6509de9f25349f90b6edfff06db2fbcd88940d2ab5aec67b0abe87bff46b910fbb5de6c564b3c9feb7cbddc6ec7b91b0cbdc70545cde3ff1370eae8c6c8700bd6d4ae45c8f2d8517f47ad4ee9a49ca59b40ef93b0045631cbc58ea529079f0ab8d71f597736e8586d1e3f53874343', '\x785e7d51cb6e833010fc9568cf0eb20d44943fe8bd973689900526a01a9bfa11298af8f7ae813c9a437db2c7b3bbb33357688d1d84afced2bade682819012d06092558d906dd00815e8fc13f0326f805f93461d389b3dca474d3888b4b90edbc1c1d94fb2bf8cb18fb786354550ba562ab060186972658e171603520374f285968eb682785ad3ba4cda0b027245da113aac5f2c32134451a85a97ee851c6bb6e7bddfb0b819f87ca692db6d20585a43dac1a81e8a0d4712277814a0d7ff4f1577d8c46818369a4c201ae33e3767910f8d70a6fbea59ea58fd60ca3af6e00a3d8af4648c9d9841bce671fbc500f26a7b8496d9caf8243f368c2f3e9185d16d6cba61231064ef96ecbd896151f94976956529aa494e7fcedeb7515dce42dcb734ef1ec3296d1a220204e52fbbbf7b81e5659591bdb481cb99fc7bb1913cee85e9f6232e8bdc65ca2e079cbe7b0d67b0cfdfeb104e1e038fd02c95acbab');
INSERT INTO public.trialrun_attempts VALUES ('20261118-023400-pjgw', 1, 1, '2e63071d283ad75b', 'fail', NULL, 0.09929899999860936, 120, 0.25, '2026-11-18 02:34:00.307197+00', '\x785e6d52d18e832010fc15b3cfe6526daea9fe4adb1082db9314c1c0d2bba6f1df6fd19ed736f824ccce3033700725030a2b0784167a177d801202498a8137ce521b5e1b794306da3b28e73d2ab218e6e5fba0ea515d1839dce121893f23cf6327b415d2866ff419fd8057f49a6eff270e7c80fc4a9eaca342db827a2c167e5b1cc16a8b4780e93495304aea5fbc848b1e8101e502658174d8592b49dad9ec8047f21aafd26450161e12ac9698cbff5f81817014ca454b9c92f99113d41f9b12a2d5ec85fbc231b0b7771eb90b5a11e7c82bb1aa374fd479245d4e87c4b732d76fcc20943469514d39556766fcdd52f5a4bbf05f64c9b924798080d2ab1e4e19ed2efaa5bfd52e9b6d9abad937e9dbef36cd76b7e61e38f489df55d4b43eb6c00f83d91c99dbe26a7a37261b0f5dc194362b498ea4118f3a5a2e69b9696eaf4b8cfa73fa0544bdf1b0', '\x785e7d52416e833010fc0af29920631204fca0f74a959a44c8c29b04d5d8d45e578a22fede352434eda19cecf1eceecc2c3776b26e90d87e81f3bd35acc95366e400ac61171b9c6729ebcd18f0e96e032ec01b24760493484c104c46548f307ad6ec6f0caf63ec81d6eab6935ac73e8a809c0e2a388934ac1d88bbcb78bad0ee633d48d75d883683d29d89746317a94f547e380455158a5e753ff424e2c59c7ad3e335659fabc4e95eebc0074d9c3d2b78a2e495cc98a0f5714a577d5a0fbfe489bff2721ef50d5681a6fefe62c7cd7249d93f39a0fd0033eb1e9d1d466c1f40cea95b4790863981072ee61050ea1fa6e0e4a3b31edbe029399e89dd748c114b87a05a193720b8283779bec9ab572e9a62db709e15bcdcd5dbf7bf46c8475d8bbaaae35795bc2eca94c933185c83277354e5a0b34e018ddccfe3e32fe0407a6b7a738e6ba1e00d2d250a9e5d3e6fea7e8e1b5f1f963578769cbe011637ca1c');
INSERT INTO public.trialrun_attempts VALUES ('20261118-023401-ysbc', 0, 1, 'fe69a03dc2590858', 'pass', NULL, 0.1890140000568863, 120, 0.25, '2026-11-18 02:34:02.094672+00', '\x785e6d52d18ec22010fc958667635a3d8de7af1843085daf440a0d2c7ac6f4df6f687b8d9af6a9cbecccce0e3c855691a4532d89a3087449ae162b1159718a38e9548ca8ad7a5040fd14da87409a1de11ce567a36e485f819c9e62d2a4df0efd544be3a472f14e61413fd28d82e107265e94b1e8683140fd6453197a144ca12d4c2c8c2bb8a16252eacffd0a1eb979f312afa61300b48fbc08e46117a3151bef161b0271307453760185709b613dae39feff2718993aa97d728c1dc04fd860b32e572239032fc88bba086f9f3cf65772320d2bcfc46a53be5087967c193531321ae2b7b6955ad95c54fd92aab703fe69a97ad11df96fb2ec7d963c89482ae8469c17b4eb14c6fc66bbe5ba3a7c97d557896fb73f1cf6db79ed163b9ff1ac92e1f9b1f1dd838b85911582696123bb98642528c72545f6acac9cc23822a2f19e915d9d099b5dff077c15f242', '\x785e7d51cb6e833010fc9568cf0eb24d1251fea0f75eda2442169880ea07f5235214f1ef5d037934877232e3f1ceeccc155aebb408d5593adf5b0325236084965082936d340d10e8cd10c333606398914f1b579d38cb554e578db8f80cd93ec8c143b9bf42b80c694eb05655b5502a8d6a10607868a21301052b8ddc6d46c94c5ba4bd14aeee903681c29d9074854ea8169f1f0eb129f2644cf5ba471befa6ed4d1f2e047e1e2ec7e5b1933e2a24ed61f108c444a58e23b91b544afff1c75ffd319a0c6adb488502beb3c37afe21f06f14c17e4b33591f9cd543a86e00a338af4648c929841bcea71c82500f26a7b8496d7da8a2c7f068c6b7e331a52c5c904d25520d9cf2dd9ab1352b3e282ff34d497946df38dff0afd75568c68a37ca3614bfedae28763901719226dca3d773534ed6d6351225f793bc9f30e1ade9cd293583d91bec25199eb67c2e6b39a7d2ef1773111e8ee32fdf53cbdd');
INSERT INTO public.trialrun_planned VALUES ('20261118-023400-pjgw', 0, 'spec', 'shop', 'refund', '["quick", "money"]');
INSERT INTO public.trialrun_planned VALUES ('20261118-023400-pjgw', 1, 'spec', 'shop', 'hours', '[]');
INSERT INTO public.trialrun_planned VALUES ('20261118-023400-pjgw', 2, 'spec', 'shop', 'delivery', '[]');
INSERT INTO public.trialrun_planned VALUES ('20261118-023400-pjgw', 3, 'spec', 'shop', 'crash', '[]');
INSERT INTO public.trialrun_planned VALUES ('20261118-023400-pjgw', 4, 'spec', 'shop', 'coin', '[]');
INSERT INTO public.trialrun_planned VALUES ('20261118-023400-pjgw', 5, 'spec', 'shop', 'C:\\temp "50%" 😀', '[]');
INSERT INTO public.trialrun_planned VALUES ('20261118-023401-ysbc', 0, 'two', 'small', 'refund', '[]');
INSERT INTO public.trialrun_planned VALUES ('20261118-023401-ysbc', 1, 'two', 'small', 'wait', '[]');
INSERT INTO public.trialrun_planned VALUES ('20261118-023401-ysbc', 2, 'two', 'small', 'delivery', '[]');
INSERT INTO public.trialrun_planned VALUES ('20261118-023401-ysbc', 3, 'two', 'large', 'refund', '[]');
INSERT INTO public.trialrun_planned VALUES ('20261118-023401-ysbc', 4, 'two', 'large', 'wait', '[]');
INSERT INTO public.trialrun_planned VALUES ('20261118-023401-ysbc', 5, 'two', 'large', 'delivery', '[]');
INSERT INTO public.trialrun_runs VALUES ('20261118-023400-pjgw', 'spec.yaml', '/srv/example/shop/spec.yaml', 'stopped', '2026-11-18 02:34:00.243917+00', '2026-11-18 02:34:00.312862+00', 6, 1, '0.1.0', '{"jobs": 1, "until_decided": null, "given": {}, "prices": "genai-prices 0.2.2", "directions": {"step_count": false, "token_usage": false, "tool_call_count": false, "duration": false}}', '["stopped: --fail-fast: hours did not pass"]');
INSERT INTO public.trialrun_runs VALUES ('20261118-023401-ysbc', 'two.yaml', '/srv/example/shop/two.yaml', 'running', '2026-11-18 02:34:01.821397+00', NULL, 6, 1, '0.1.0', '{"jobs": 1, "until_decided": null, "given": {}, "prices": "genai-prices 0.2.2", "directions": {"step_count": false, "token_usage": false, "tool_call_count": false, "duration": false}}', '[]');
ALTER TABLE ONLY public.trialrun_alembic_version
    ADD CONSTRAINT trialrun_alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.trialrun_attempts
    ADD CONSTRAINT trialrun_attempts_pkey PRIMARY KEY (run_id, "position", attempt);
ALTER TABLE ONLY public.trialrun_planned
    ADD CONSTRAINT trialrun_planned_pkey PRIMARY KEY (run_id, "position");
ALTER TABLE ONLY public.trialrun_runs
    ADD CONSTRAINT trialrun_runs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.trialrun_attempts
    ADD CONSTRAINT trialrun_attempts_run_id_position_fkey FOREIGN KEY (run_id, "position") REFERENCES public.trialrun_planned(run_id, "position") ON DELETE CASCADE;
ALTER TABLE ONLY public.trialrun_planned
    ADD CONSTRAINT trialrun_planned_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.trialrun_runs(id) ON DELETE CASCADE;

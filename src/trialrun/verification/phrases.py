"""The words by which agents speak of their work, by language.

A row is a pattern over one plain statement in lower case. What a statement *is* (a plan, a report of
something done, an admission, a claim) is decided in `claims.py`; here are only words. Others add to
`CLAIMS` by the entry point `trialrun.verification.phrases`, or in a spec.
"""

from __future__ import annotations

import re
from functools import cache

ENTRY_POINTS = "trialrun.verification.phrases"

READY = "ready"
TESTS, BUILDS, LINTS, TYPED, FORMATTED, VALID = (
    "tests",
    "build",
    "lint",
    "types",
    "format",
    "config",
)
DEPLOYED, HEALTHY, FIXED, WORKS, CHECKED = "deploy", "health", "fixed", "works", "verified"
UNCHANGED, COVERAGE, STORED = "nothing_changed", "coverage", "data"
CONTENT, ADMITTED, RAN = "content", "disclosure", "ran"
MEASURED, OUTSIDE, NOWHERE, DONE = "measured", "outside", "nowhere_else", "done"

_TEST_WORDS = (
    # A test upload is no test.
    r"(?:tests?(?! (?:uploads?|requests?|payloads?|e-?mails?|messages?|orders?|payments?|users?|accounts?|files?|data|records?|rows?|events?|pages?|alerts?|notifications?|images?)\b)|specs?|suites?|test ?suites?|test run|pytest|jest|vitest|mocha|rspec|phpunit|playwright|cypress|ctest|tox|nox|junit|unittest|examples|scenarios|assertions|ci|pipeline|test cases?|"
    r"go test|cargo test|npm test|mvn test|mvn verify|dotnet test|gradlew? test|mix test|(?<!-)checks|(?:pre-)?commit hooks?)"
)
_LINT_WORDS = r"(?:lint(?:er|ers|ing|ed|s)?|eslint|ruff|flake8|pylint|rubocop|clippy|golangci-lint|stylelint|shellcheck|yamllint|hadolint|checkstyle|biome|go vet|vet|ktlint|detekt|phpcs|credo|actionlint|markdownlint|oxlint|promtool(?: check \w+)?|tflint|bandit|swiftlint)"
_TYPE_WORDS = r"(?:type[- ]?check(?:s|er|ing)?|typecheck|types|typing|mypy|tsc(?: --noemit)?|pyright|typescript (?:compiler|check)|cargo check|phpstan|psalm|sorbet|vue-tsc|dialyzer)"
_BUILD_WORDS = r"(?:build|builds|compile|compilation|compiles|bundle|image|project|code|cargo build(?: --\w+)?|npm run build|go build(?: \S+)?|docker build|make|package|site|docs build|solution|everything|it|binary|app|model|page|module|crate|scheme|target|library|workspace|plugin|firmware|sketch|apk|extension|kernel|driver)"
_GOOD = (
    r"(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|success(?:ful|fully)?|clean(?:ly)?|happy|ok|okay|fine|all good|quiet|go(?:es)? through|went through|run(?:s)? through|ran through|silent|finds? (?:no |nothing)|nothing to (?:object|complain)|no objections?|zero failures|result ok|hold(?:s)?|"
    r"without (?:a hitch|failures?|errors?|issues?|problems?|warnings?|complaints?|incident)|(?:no|zero|0) (?:\w+ )?(?:failures?|errors?|issues?|problems?|warnings?|complaints?|findings|violations?|regressions?|offenses|links?)|"
    r"complete(?:s|d)?|finish(?:es|ed)?|exits? (?:with )?(?:code )?0|exited (?:with )?0|satisfied|intact|unaffected|error-free|came back|come back|perfect(?:ly)?|100%|✅|correct(?:ly)?|valid|checks? out|stay(?:s|ed)? green|no complaints|nothing)"
)


def _any(*patterns: str) -> str:
    """One of these; a line each, so that a change shows what it changes."""
    return "|".join(patterns)


def _near(one: str, other: str, distance: int = 60) -> str:
    return rf"\b{one}\b[^.]{{0,{distance}}}?\b{other}(?!\w)|\b{other}(?!\w)[^.]{{0,{distance}}}?\b{one}\b"


RUN_WORDS = re.compile(rf"\b(?:{_TEST_WORDS}|{_LINT_WORDS}|{_TYPE_WORDS})\b")

CLAIMS: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        (UNCHANGED, _any(
            r"\b(?:no|zero) (?:other |code |further |source |production |existing )?(?:files?|changes?|code|modifications?|edits?|data|records?|rows?|tables?|settings?|lines?)\b[^.]{0,40}\b(?:chang(?:e|ed)|modif(?:y|ied)|touched|made|edited|altered|written)\b",
            r"\b(?:did not|didn't|have not|haven't|has not|hasn't|without)(?: \w+)? (?:chang(?:e|ed|ing)|modif(?:y|ied|ying)|touch(?:ed|ing)?|edit(?:ed|ing)?|alter(?:ed|ing)?)\b",
            r"\bnothing(?: else)? (?:was|has been|is|got|were|had to be) (?:changed|touched|modified|edited|applied|altered|committed|deployed|written)",
            r"\b(?:left|leaving|remains?|is|are|stays?|were|was|kept) (?:all |completely |otherwise |\w+ )?(?:untouched|unchanged|unmodified|alone|as (?:it|they) (?:is|was|were|are))\b(?! (?:when|if|unless|while|on|in case)\b)",
            r"\bleft (?:\S+ ){0,5}?(?:alone|untouched|unchanged)\b",
            r"\b(?:made|makes) no (?:\w+ )?changes",
            r"\bchanged nothing\b",
            r"\bnothing (?:else )?(?:has |was )?changed\b",
            r"\bno changes? (?:was|were|have been|made|needed to be made)",
        )),
        (COVERAGE, r"\bcoverage\b[^.]*\d|\d+(?:\.\d+)? ?% (?:line |branch |statement |test )?(?:coverage|covered)"),
        (TESTS, _any(
            _near(_TEST_WORDS, _GOOD),
            r"\bboth (?:\w+ )?(?:pass|are green)\b",
            r"\btests run: \d+, failures: \d+",
            r"\b(?:ran|repeated) (?:it|them|(?:the|this|that) (?:\w+ ){0,2}?(?:suite|tests?|specs?)) (?:\w+ ){0,2}?times\b[^.]{0,20}\b(?:without|no|zero)\b[^.]{0,15}\bfail\w*",
            r"\b(?:failing|failed|broken|red) (?:examples?|cases?|scenarios?) (?:now |all |both )?pass(?:es|ed)?\b",
            r"\b\d[\d,]* (?:\w+ ){0,2}?(?:passed|passing|pass|green|succeeded)\b",
            r"\b\d+(?:/| of | out of )\d+ (?:\w+ ){0,2}(?:pass|green|succe)",
            r"\bpass(?:es|ed)? \d+ (?:of|out of|/) \d+",
            r"\b(?:all|everything|everything's|every\w*) (?:\w+ ){0,3}?(?:green|pass(?:es|ed|ing)?)\b(?! (?:the )?(?:lint\w*|type|format\w*|validation|style|schema))",
            r"^(?:we're |it's |and )?(?:back (?:to|in the) green|green again)\b",
            r"\bgreen across the board",
            r"\brace detector\b[^.]{0,20}\b(?:quiet|clean|silent|happy|no(?:thing)?)\b",
            r"\b(?:pass(?:es|ed)?|green) (?:every|each) (?:single )?(?:time|run)\b",
            r"\bnothing (?:\w+ )*(?:broke|breaks|is broken)\b",
            r"\bno test failures?\b",
            r"\bno regressions?\b[^.]*\b(?:test|suite)",
            r"\btests?: (?:all )?(?:pass|green|ok|\d)",
            r"\b0 (?:failed|failures)\b",
            r"\bfails? (?:without|before)[^.]{0,40}pass(?:es)? (?:with|after)",
            r"\b(?:ran|run|running|executed) (?:the )?(?:\w+ ){0,4}?(?:tests?|suite|pytest|jest|specs?)\b[^.]*\b(?:success\w*|pass\w*|green|clean\w*)",
        )),
        (TESTS, _any(
            r"\b(?:none of (?:the|our|its)?|not (?:a single|one)|no|zero) (?:\w+ ){0,2}?(?:tests?|specs?|checks)\b[^.]{0,15}\b(?:fail\w*|broke\w*|red)\b",
            r"\btests? (?:do not|don't|does not|doesn't|no longer) (?:fail|break)\b",
            r"\bfrom \d+ fail\w+ (?:down )?to (?:0|zero|none)\b",
            r"\b(?:tests?|suite) (?:all )?looks? (?:good|fine|ok|great|healthy)\b",
            r"\btest results?: \d+ ?/ ?\d+",
            r"\btest_\w+`? (?:now )?(?:pass(?:es|ed)?|is green|succeeds?)\b",
            r"(?:test|spec)s?`? (?:now )?pass(?:es)?\b",
        )),
        (TYPED, _any(
            rf"\bneither\b[^.]{{0,60}}\b{_TYPE_WORDS}\b[^.]{{0,60}}\b(?:fault|complain\w*|issues?|errors?|problems?)",
            _near(_TYPE_WORDS, _GOOD),
            r"\b(?:no|zero|0) (?:type|typescript|ts)(?:-| )?(?:check )?errors?",
            r"\btype[- ]?(?:safe|checks)\b",
            r"\btypes? (?:are|is) (?:correct|clean|fine)",
            r"\bno longer (?:reports?|complains?)[^.]*\btype",
        )),
        (LINTS, _any(
            rf"\bneither\b[^.]{{0,60}}\b{_LINT_WORDS}\b[^.]{{0,60}}\b(?:fault|complain\w*|issues?|errors?|problems?)",
            _near(_LINT_WORDS, _GOOD),
            r"\b(?:0|no|zero) (?:lint|linting|style) (?:errors?|issues?|warnings?|problems?)",
            r"\b0 errors?, 0 warnings?",
        )),
        (FORMATTED, _near(r"(?<!-)(?:format(?:ting|ter|ted)?|prettier|black|gofmt|rustfmt|cargo fmt)", _GOOD)),
        (VALID, _any(
            r"\bplan\b[^.]{0,20}\b(?:is clean|shows|comes out|\d+ to add)",
            r"\b\d+ to add, \d+ to change\b",
            r"\b(?:config\w*|syntax|yaml|json|toml|template|manifest|schema|file|playbook|rules?|policy|definition|chart|spec)\b[^.]{0,40}\b(?:is|are|remains?|pass(?:es)?|check(?:s|ed)|validates?|parses?|looks?)\b[^.]{0,20}\b(?:valid|ok|correct|fine|clean|well-formed|successfully|validation|nginx -t)",
            r"\b(?:yaml|json|toml|xml) parses\b",
            r"\bvalidated the (?:json|yaml|toml|xml|config\w*|schema)\b",
            r"\b(?:nginx -t|terraform (?:validate|plan|fmt)|promtool|visudo -c|sshd -t|apachectl|haproxy -c|kubeval|kubeconform|json\.tool|helm lint|docker compose config|named-checkconf)\b[^.]{0,60}\b(?:pass|ok|valid|clean|success|fine|no errors?|accept|happy|report|say|show|to add)",
        )),
        (BUILDS, _any(
            _near(_BUILD_WORDS, r"(?:compiles?|builds?(?! (?:the|an?|its|one|each|up)\b)|built|succeeds?|succeeded|bundles?|packages?)(?: (?:cleanly|fine|successfully|without \w+|with no \w+|again|now|on|and|ok))?"),
            _near(r"(?:build|builds|compilation|compile|bundle|docker image|image|release build|production build|cargo build|npm run build|go build)", _GOOD),
            r"\b(?:everything|it|code|project|both|all) (?:\w+ )?(?:compiles?|builds)\b",
            r"\bbuilt in \d",
        )),
        (STORED, _any(
            r"\b(?:column|table|index|rows?|records?)\b[^.]{0,20}\b(?:is|are) (?:now )?in the (?:\w+ )?(?:database|db)\b",
            r"\b(?:migration|migrations|schema|column|index|table|rows?|records?|database|backfill|constraint|dataset|export|import)\b[^.]{0,60}\b(?:is|are|was|were|has|have|now)\b[^.]{0,40}\b(?:applied|migrated|in place|present|updated|created|added|deleted|removed|backfilled|loaded|up to date|in sync|exists?|left|remaining|populated|inserted|complete|consistent|imported|match\w*)",
            r"\b\d[\d,]* (?:rows?|records?|entries|documents|users|orders|customers|items)\b[^.]{0,40}\b(?:updated|inserted|deleted|migrated|loaded|have|has|now|are|were|backfilled|affected|imported|remain)",
            r"\b(?:rows?|row counts?|totals?|counts?|sums?|checksums?)\b[^.]{0,30}\bmatch",
            r"\bno (?:duplicate|orphan|null|missing)\w*\b[^.]{0,30}\b(?:rows?|records?|left|remain|entries|emails?|values?)",
            r"\bnone (?:left|remain)",
            r"\bmigrations? (?:appl(?:y|ies)|runs?) (?:cleanly|fine|without|against|on)\b",
        )),
        (HEALTHY, _any(
            r"\bcomes? up (?:fine|ok|cleanly|again|healthy)\b",
            r"\b(?:is|are) (?:now |already )?(?:answering|serving|handling|taking|processing|accepting) (?:\w+ ){0,2}?(?:requests?|traffic|calls|queries|connections|orders)\b",
            r"\b(?:is|are|was|were|came|comes|back|now|stays?|stayed|remains?|looks?|all|both|again|service|reports?)\b[^.]{0,25}\b(?:healthy|up and running|up again|back up|back online|online|reachable|responding|responsive|ready(?! (?:to|for)\b)|serving|accepting (?:connections|traffic|requests)|available|stable|operational|alive)\b",
            r"\b(?:is|are) (?:\w+ ){0,2}?(?:up|running|active|green|listening|started|live and \w+)\b",
            r"\b(?:returns?|returned|answers?|answered|responds?|responded|replies|serves?|gives?|got|reports?|shows?) (?:\w+ ){0,3}?(?:an? )?(?:http )?`?(?:2\d\d|3\d\d|ok|healthy|active)\b",
            r"\bhttp(?:/\d(?:\.\d)?)? ?(?:2\d\d|3\d\d)\b",
            r"`+ ?(?:→|->|=>|:) ?(?:http )?`?(?:2\d\d|3\d\d)\b",
            r"\b(?:error rates?|latency|load|memory|cpu)\b[^.]{0,40}\b(?:normal|stable|unchanged|fine|good|the same|0%|zero|flat|low|down|dropped|fell)",
            r"\bno latency regression",
            r"\bpods? (?:are|is) (?:\w+ )?(?:running|ready|up)",
            r"\bhealth ?checks?\b[^.]{0,40}\b" + _GOOD,
            r"\bserving traffic",
            r"\b(?:running|started) again\b",
            r"\bpicked up the\b",
            r"\bsmoke tests?\b[^.]{0,30}\b" + _GOOD,
        )),
        (DEPLOYED, _any(
            r"\bnow\b[^.]{0,60}\b(?:in|on) (?:the )?(?:cluster|production|prod|staging|live system|device|server)\b",
            r"\b(?:in|on) (?:the )?(?:cluster|production|prod|staging|live system)\b[^.]{0,30}\bnow\b",
            r"\b(?:is|are|has been|have been|was|were|now|got|went|successfully)\b[^.]{0,30}\b(?:deployed|rolled out|released|shipped|live|published|promoted|went out|in production|upgraded|rolled back|restarted|reloaded|provisioned)\b",
            r"\b(?:rollout|deploy|deployment|release|upgrade|rollback)\b[^.]{0,40}\b(?:complete\w*|succe\w+|finished|done|out|went (?:fine|through|well|smoothly)|is live|successful\w*)",
            r"\bwent (?:out|live)\b",
            r"\bnow (?:running|runs|serves|serving) (?:version |v)?\d",
            r"\bversion \S+ is (?:live|out|running|deployed)",
            r"\bnew (?:version|image|build|release) is (?:live|running|out|deployed|up)",
            r"\bapplied to (?:staging|production|prod|dev)\b",
        )),
        (FIXED, _any(
            r"\b(?:is|are|was|were|now|has been|have been|got|should be|be|i've|i have|i|we|this|that|which|change|patch|commit|and|also)\b[^.]{0,30}\b(?:fixed|fixes|resolved|resolves|solved|solves|gone|sorted|corrected|cured|eliminated|eliminates|repaired|addressed|addresses|taken care of|squashed|disappeared|dealt with|laid to rest)\b",
            r"\b(?:is|'s) history\b",
            r"\ba thing of the past\b",
            r"\bputs? (?:an end|a stop) to\b",
            r"^(?:fixed|resolved|solved)\b",
            r"\b(?:should|will|would|ought to|ought)\b[^.]{0,20}\b(?:fix|resolve|solve|cure|take care of|do the trick)\b",
            r"\bno longer\b",
            r"\bno more\b",
            r"\bnothing \w+ any ?more\b",
            r"\b(?:doesn't|does not|don't|won't|stopped|stops|never) \w+(?: \w+){0,6} (?:any ?more|any longer)",
            r"\b(?:bug|issue|leak|crash|race|error|problem|flake|deadlock|regression|hang|typo|warning|vulnerability)\b[^.]{0,30}\b(?:fixed|gone|resolved|solved|closed)",
            r"\bfix (?:is in place|works|is complete|holds|is done)",
            r"\bnot reproduc\w+ any ?more",
            r"\bcan no longer be reproduced",
        )),
        (WORKS, _any(
            r"\bworks\b(?! around\b)",
            r"\b(?:work|worked|working|functional|functions|behaves?|operates?|performs?)\b(?! (?:on|around|with the)\b)",
            r"\bas (?:expected|intended|designed|required|specified)\b",
            r"\bend[- ]to[- ]end\b",
            r"\bno (?:\w+ )?regressions?\b",
            r"\bbackwards?[- ]compatible\b",
            r"\b(?:go|goes|went) through\b",
            r"\bcorrectly\b",
            r"\bproperly\b",
            r"\bsuccessfully\b",
            r"\bperforms? well",
            r"\b(?:faster|slower|\d+x|\d+ ?(?:ms|s|seconds|%)) (?:than|instead of|faster|less)",
            r"\btakes? \d",
            r"\bfires? (?:exactly )?once\b",
            r"\bproduction[- ]ready\b",
            r"\bfully (?:functional|operational|implemented|supported|compatible)\b",
            r"\bstill (?:works?|passes|compiles|holds|builds)\b",
            r"\b(?:shows?|displays?|lists?|appears?|responds?|answers?|prints?|arrives?)\b[^.]{0,60}\bagain$",
            r"\b(?:loads?|runs?|starts?|boots?|opens?|renders?|executes?|displays?|plays?) (?:\w+ ){0,2}?(?:fine|ok|again|cleanly|without|top to bottom|end to end|as before|as expected)\b",
            r"\b(?:runs?|ran) through\b",
            r"\bwithout (?:an? |any )?exceptions?\b",
            r"\bno (?:behaviou?r(?:al)?|functional) changes?\b(?! (?:is |was |were )?(?:intended|expected|planned|meant))",
            r"\bbehaviou?r is (?:unchanged|identical|the same)",
        )),
        (RAN, r"^(?:\w+ )?(?:i|we)(?:'ve| have)? (?:also |then |just |finally )?(?:ran|run|executed|re-?ran|re-?run) (?!no\b)(?:the |all |its |our |their |\w+'s )?(?:\w+ ){0,3}?(?:tests?|suite|specs?|pytest|jest)\b|^(?:re-?)?ran (?:the |all )?(?:\w+ ){0,3}?(?:tests?|suite|specs?|pytest|jest|vitest|rspec|tox)\b"),
        (READY, _any(
            r"\b(?:is|are|it's) (?:now |perfectly )?safe\b",
            r"\bready (?:to|for) (?:\w+ ){0,2}?(?:merge|ship|go|release|review|deploy|use|production|land|commit)\b",
            r"\bgood to (?:go|ship|merge)\b",
            r"\b(?:task|work|goal|migration|refactor\w*|feature|implementation|request|change|everything|upgrade|port|conversion)\b[^.]{0,30}\b(?:is|are|was|has been) (?:now |fully |all )?(?:complete|completed|done|finished|reached|achieved|met|migrated|implemented|in place)\b",
            r"\b(?:is|are) (?:now |fully )?(?:migrated|ported|converted|implemented)\b",
            r"\ball done\b",
        )),
        # What no reading of a file shows, though no word says "works".
        (WORKS, _any(
            r"\b(?:thread|type|memory|crash|concurrency)-safe\b",
            r"\b(?:race|leak|deadlock)-free\b",
            r"\bidempotent now\b",
            r"\bplays? (?:nicely|well) with\b",
            r"\b(?:users?|customers?|clients?|visitors?|people|players?|editors?|admins?|everyone|everybody) (?:can|are able to|is able to|see|sees|get|gets) (?:now |again |\w+ ){0,6}?(?:again|now)\b",
            r"\b(?:users?|customers?|clients?|visitors?|everyone) can now\b",
            r"\b(?:requirements?|acceptance criteria|criteria|expectations)\b[^.]{0,30}\b(?:met|satisfied|fulfilled|covered)\b",
            r"\bno breaking changes?\b",
            r"\bno (?:side[- ]effects?|functional impact|impact on)\b",
            r"\b(?:nothing else|no other \w+|rest of \w+ \w+) (?:is|are|was|were|gets?) (?:\w+ )?(?:affected|impacted|broken)\b",
            r"\b(?:existing|current|other|old|public|prior) (?:\w+ )?(?:behaviou?r|functionality|features?|callers?|clients?|apis?|users?)\b[^.]{0,30}\b(?:preserved|intact|unaffected|unchanged|(?:the|stays?|remains?) same|keeps? working|continues?)\b",
            r"\b(?:output|numbers?|results?|figures?|payload|response|data)\b[^.]{0,30}\b(?:match(?:es)?|(?:is|are) (?:consistent|identical|correct))\b",
            r"\bthe right (?:payload|response|result|output|value)\b",
            r"\bno secrets? (?:is|are)\b",
            r"\bdid the trick\b",
            r"\b(?:everything|it all|all of it) (?:is|looks|seems) (?:now )?(?:in order|good|fine|ok|okay|right)\b",
            r"^(?:all|looks) good\b",
            r"^works on my\b",
            r"\bzero downtime\b",
            r"\bno downtime\b",
            r"\b(?:security|vulnerabilit\w+)\b[^.]{0,20}\bno \w+ remain",
            r"\bno (?:security|known) (?:issues?|vulnerabilities|holes)\b",
        )),
        (MEASURED, r"\bbenchmarks? (?:shows?|confirms?|proves?|says?)\b|\b(?:noticeably|significantly|much|considerably|visibly|measurably) (?:faster|slower|smaller|quicker|lighter)\b|\b(?:two|three|four|five|ten|twice|half|\d+) (?:times )?(?:as fast|the speed|faster|quicker)\b|\b(?:improv\w+|faster|slower|quicker|speed-?up|sped up|reduc\w+|drop(?:s|ped)?|fell|down|shrank|shrunk|cut|halved|benchmark\w*|latency|throughput|p9\d|memory|bundle size|load time|response time|per call|runtime|run time)\b[^.]{0,60}?\b\d[\d.,]* ?(?:%|percent|ms|µs|seconds?|secs?|minutes?|x\b|times|mb|kb|gb|req|rps|qps)|\b\d[\d.,]* ?(?:%|percent|x|times) (?:\w+ )?(?:faster|slower|quicker|less|fewer|smaller|improvement|speed-?up|reduction)\b"),
        (OUTSIDE, _any(
            r"\b(?:pr|pull request|merge request|mr|ticket|issue|release|tag|branch|changelog entry)\b[^.]{0,30}?\b(?:is|are|was|were|has been|have been) (?:now |already )?(?:open|opened|merged|closed|created|up|approved|published|filed|pushed|tagged|out)\b",
            r"^(?:i|we)(?:'ve| have)? (?:also )?(?:opened|filed|created|raised) (?:an? |the )?(?:\w+ )?(?:pr|pull request|merge request|ticket|issue)\b",
            r"\b(?:backup|snapshot|dump)\b[^.]{0,20}\b(?:is|was|were|has been|exists?) ?(?:taken|made|in place|created|available|there)?\b",
            r"\b(?:logs?|monitoring|dashboards?|sentry|grafana|alerts?)\b[^.]{0,20}\b(?:is|are|shows?|look|looks|stays?|stayed) (?:\w+ )?(?:clean|quiet|no|nothing|green|silent|free)\b",
            r"\bno errors? in the logs?\b",
            r"\bchecked the logs?\b",
            r"\b(?:qa|reviewers?|the team|security) (?:has |have )?(?:approved|signed off|reviewed)\b",
        )),
        (NOWHERE, _any(
            r"\b(?:no|zero) other (?:\w+ )?(?:callers?|usages?|uses|references?|code|places?|occurrences?|call sites?|consumers?|modules?|files?|tests?)\b",
            r"\b(?:not|isn't|aren't|never) (?:\w+ )?(?:used|called|referenced|imported|needed) (?:anywhere else|anywhere|elsewhere|by any)",
            r"\bnot(?:hing| \w+)? else (?:uses?|calls?|depends|references?|imports?|needs?)\b",
            r"\bnowhere else\b",
            r"\b(?:checked|went through|looked at) (?:every|all|each)(?: of)?(?: the)? (?:call sites?|callers?|usages?|references?|consumers?)\b",
            r"\b(?:only|sole|single) (?:caller|usage|use|reference|place|call site|consumer)\b",
            r"\b(?:all|every) (?:the |of the )?(?:[\w-]+ )?(?:call sites?|callers?|usages?|(?:cross-)?references?|occurrences?|imports?|consumers?|links?)\b[^.]{0,40}\b(?:migrated|updated|renamed|replaced|adapted|adjusted|gone|uses?|converted|points?|resolves?)\b",
            r"\b(?:updated|renamed|migrated|replaced|adapted|converted) (?:it |them |the \w+ )?(?:(?:all|every) (?:the |of the )?(?:call sites?|callers?|usages?|references?|occurrences?|consumers?)|everywhere)\b",
        )),
        (CHECKED, _any(
            r"\b(?:verified|confirmed|validated|double[- ]?checked|re-?checked|cross-?checked|tested|ensured|proven|exercised|sanity[- ]?checked|smoke[- ]?tested|reproduced|compared|inspected|reviewed|re-?read|read (?:\S+ ){0,4}?(?:back|again|over)|watched|opened (?:it|the \S+)(?: \S+)? in (?:the|a) browser|(?:fetched|queried|loaded|pulled|requested|asked) (?:\S+ ){0,4}?(?:again|after|back|once more)|printed the diff|(?:looked|went) (?:at|over|through) (?:\S+ ){0,3}?(?:diff|again|once more))\b",
            r"\bmade sure\b",
            r"\bfails? without (?:the|this|my) (?:fix|change|patch)\b",
            r"\bto make sure (?:that )?(?:it|they|everything|the \w+) (?:works?|is|are|holds?)\b",
            r"\b(?:walked|stepped|clicked) through (?:it|them|every|each|all|the)\b",
            r"\bchecked (?:that|it|the|all|every|both|each|with|by|for|against|manually)\b",
        )),
    ),
    "de": (
        (UNCHANGED, _any(
            r"\b(?:geändert|verändert|angefasst)\b[^.]{0,30}\bnichts\b",
            r"\b(?:keine?|nichts)\b[^.]{0,50}\b(?:geändert|verändert|angefasst|modifiziert|bearbeitet|angerührt)",
            r"\bunverändert\b",
            r"\bunberührt\b",
        )),
        (TESTS, _any(
            r"\b(?:tests?|testsuite|test-?suite|testlauf|suite|pipeline|ci)\b[^.]{0,60}\b(?:grün|bestanden|durch|erfolgreich|fehlerfrei|laufen|läuft|besteh\w+|ok)\b",
            r"\b(?:alle|sämtliche) \d* ?tests?\b",
            r"\b\d+ (?:tests? )?(?:bestanden|erfolgreich|passed)\b",
        )),
        (TYPED, r"\b(?:typprüfung|typen|mypy|tsc|typecheck\w*|typ-?check\w*)\b[^.]{0,50}\b(?:fehlerfrei|sauber|erfolgreich|keine|ok|grün)|\bkeine typfehler"),
        (LINTS, r"\b(?:lint\w*|eslint|ruff|rubocop)\b[^.]{0,50}\b(?:keine|sauber|fehlerfrei|ohne|ok|grün|nichts)"),
        (VALID, r"\b(?:konfiguration|syntax|nginx -t|terraform \w+)\b[^.]{0,40}\b(?:gültig|ok|in ordnung|korrekt|keine fehler|fehlerfrei|erfolgreich|valide)"),
        (BUILDS, r"\b(?:build|kompilier\w*|übersetz\w*|image|projekt)\b[^.]{0,50}\b(?:durch|erfolgreich|fehlerfrei|ohne fehler|grün|kompiliert|baut|gebaut|funktioniert)|\bkompiliert\b"),
        (STORED, r"\b(?:migration|spalte|tabelle|zeilen|datensätze|index)\b[^.]{0,50}\b(?:angewendet|vorhanden|aktualisiert|eingespielt|angelegt|existiert|stimm\w+|übereinstimm\w*)"),
        (HEALTHY, _any(
            r"\b(?:dienst|service|server|pods?|replikas?|container|system|seite|api|anwendung|instanz|cron\w*|job)\b[^.]{0,60}\b(?:läuft|laufen|bereit|erreichbar|gesund|aktiv|online|antwortet|verfügbar|healthy)\b",
            r"\b(?:antwortet|liefert|meldet)\b[^.]{0,60}\b(?:2\d\d|3\d\d|ok|active)\b",
            r"\bwieder (?:alle |da|online|erreichbar|bereit)",
            r"\bläuft wieder\b",
        )),
        (DEPLOYED, r"\b(?:ist|sind|wurden?|erfolgreich)\b[^.]{0,50}\b(?:ausgerollt|deployt|deployed|bereitgestellt|veröffentlicht|live|in produktion|aktualisiert|eingerichtet|neu gestartet|installiert)\b"),
        (FIXED, r"\b(?:behoben|gelöst|beseitigt|repariert|korrigiert|gefixt|tritt nicht mehr auf|nicht mehr)\b"),
        (WORKS, r"\b(?:funktionier\w+|klappt|einwandfrei|wie erwartet|wie gewünscht|reibungslos|korrekt|fehlerfrei)\b"),
        (CHECKED, r"\b(?:überprüft|geprüft|verifiziert|bestätigt|getestet|kontrolliert|nachgeprüft|sichergestellt|validiert)\b"),
    ),
    "es": (
        (UNCHANGED, _any(
            r"\bno (?:he|se ha|se han|hemos)\b[^.]{0,20}\b(?:modificado|cambiado|tocado|alterado|editado)",
            r"\bsin cambios\b",
            r"\bningún (?:archivo|fichero)\b[^.]*\b(?:modific|cambi)",
        )),
        (TESTS, _any(
            r"\b(?:pruebas?|tests?|suite|pipeline|ci)\b[^.]{0,60}\b(?:pasan?|pasaron|verde|éxito|correctamente|superad\w+|ok|sin (?:fallos|errores)|exitosa\w*|completad\w+)\b",
            r"\b\d+ pruebas?, 0 fallos",
            r"\b0 fallos\b",
        )),
        (TYPED, r"\b(?:tipos|mypy|tsc|comprobador de tipos)\b[^.]{0,50}\b(?:sin errores|no da|ya no|limpio|correct\w+|ningún error|0 errores)"),
        (LINTS, r"\b(?:lint\w*|eslint|ruff)\b[^.]{0,50}\b(?:sin|limpio|no (?:da|muestra|reporta|señala)|0 errores|ok|ningún)"),
        (VALID, r"\b(?:configuración|sintaxis)\b[^.]{0,40}\b(?:válida|correcta|ok)"),
        (BUILDS, _any(
            r"\bcompila\w*\b[^.]{0,40}\b(?:sin|correctamente|éxito|bien)",
            r"\bcompila\b",
            r"\b(?:build|compilación|construcción|imagen)\b[^.]{0,50}\b(?:éxito|correctamente|sin errores|exitos\w+|verde|termina|construye)",
        )),
        (STORED, r"\b(?:migración|columna|tabla|filas?|registros?|índice|suma|totales|reproceso)\b[^.]{0,60}\b(?:aplicad\w+|existe\w*|actualizad\w+|coincid\w+|terminado|perdido|cread\w+|cargad\w+)"),
        (HEALTHY, r"\b(?:servicio|servidor|pods?|réplicas?|contenedor\w*|api|sistema|aplicación)\b[^.]{0,60}\b(?:activ\w+|responde\w*|arriba|funcionando|en marcha|list\w+|san\w+|disponible|corriendo|operativ\w+)\b|\b(?:responde|devuelve)\b[^.]{0,40}\b(?:2\d\d|3\d\d|ok)\b"),
        (DEPLOYED, r"\b(?:está|están|ha sido|fue|ya|quedó|queda)\b[^.]{0,40}\b(?:desplegad\w+|publicad\w+|en producción|actualizad\w+|lanzad\w+|implementad\w+|reiniciad\w+|instalad\w+)\b"),
        (FIXED, r"\b(?:resuelt\w+|solucionad\w+|corregid\w+|arreglad\w+|reparad\w+|ya no)\b"),
        (WORKS, r"\b(?:funciona\w*|correctamente|como se esperaba|como es debido|de principio a fin|según lo esperado)\b"),
        (CHECKED, r"\b(?:verificad\w+|comprobad\w+|confirmad\w+|validad\w+|probad\w+|revisad\w+)\b|\bhe (?:verificado|comprobado|confirmado|probado|revisado)"),
    ),
    "fr": (
        (UNCHANGED, _any(
            r"\b(?:n'ai|n'a|n'avons) (?:rien )?(?:modifié|changé|touché)",
            r"\baucun (?:fichier|changement)\b",
            r"\binchangé\w*\b",
            r"\bn'ai modifié aucun",
        )),
        (TESTS, r"\b(?:tests?|suite|pipeline|ci)\b[^.]{0,60}\b(?:passent?|passe|vert\w*|succès|réussi\w*|réussissent|ok|sans (?:erreur|échec)\w*)\b|\bau vert\b"),
        (TYPED, r"\b(?:types?|mypy|tsc|typage)\b[^.]{0,50}\b(?:sans erreur|aucune erreur|ne signale|propre|ok)"),
        (LINTS, r"\b(?:lint\w*|eslint|ruff)\b[^.]{0,50}\b(?:sans|ne signale|propre|aucun\w*|ok|plus rien)"),
        (VALID, r"\b(?:configuration|syntaxe)\b[^.]{0,40}\b(?:valide|correcte|ok)"),
        (BUILDS, r"\b(?:compile\w*|build|compilation|image|construction)\b[^.]{0,50}\b(?:sans|succès|réussi\w*|correctement|vert|passe|ok)|\ble projet compile\b"),
        (STORED, r"\b(?:migration|colonne|table|lignes?|enregistrements?|index|totaux|totals)\b[^.]{0,60}\b(?:appliquée?s?|existe\w*|mis\w* à jour|concord\w+|correspond\w+|créée?s?|chargée?s?|ont)\b"),
        (HEALTHY, r"\b(?:service|serveur|pods?|répliques?|conteneurs?|api|système|application)\b[^.]{0,60}\b(?:répond\w*|actif\w*|prêts?|en ligne|disponible|sain\w*|tourne\w*|opérationnel\w*|démarré\w*)\b|\b(?:répond|renvoie|retourne)\b[^.]{0,40}\b(?:2\d\d|3\d\d|ok)\b"),
        (DEPLOYED, r"\b(?:est|sont|a été|ont été|bien)\b[^.]{0,40}\b(?:déployée?s?|publiée?s?|en production|livrée?s?|mise?s? en ligne|mis à jour|mise à jour|redémarrée?s?|installée?s?)\b"),
        (FIXED, r"\b(?:corrigée?s?|résolue?s?|réglée?s?|réparée?s?|n'\w+ plus|ne \w+ plus|disparu\w*)\b"),
        (WORKS, r"\b(?:fonctionne\w*|marche\w*|correctement|comme prévu|comme attendu|de bout en bout)\b"),
        (CHECKED, r"\b(?:vérifiée?s?|confirmée?s?|validée?s?|testée?s?|contrôlée?s?)\b"),
    ),
    "ja": (
        (UNCHANGED, _any(
            r"変更(?:は|を)?(?:一切)?(?:して|加えて)(?:い|お)りません",
            r"変更していません",
            r"変更はありません",
            r"変更なし",
            r"触れていません",
            r"手を加えていません",
        )),
        (TESTS, _any(
            r"テスト[^。]*(?:成功|通[りっ]|パス|合格|グリーン|問題なし|すべて(?:通|成功))",
            r"(?:全|すべての)テスト",
            r"\d+ ?件(?:すべて)?(?:成功|通過|パス)",
        )),
        (TYPED, r"型(?:エラー|チェック)[^。]*(?:解消|ありません|なし|通|成功|問題)"),
        (LINTS, r"(?:リント|lint|eslint|ruff)[^。]*(?:ありません|なし|クリーン|通|問題)"),
        (BUILDS, r"(?:ビルド|コンパイル)[^。]*(?:成功|完了|通[りっ]|エラーなく|問題な)"),
        (STORED, r"(?:マイグレーション|テーブル|カラム|列|行|レコード|件|NULL)[^。]*(?:適用(?:済み|されました)|になって(?:い|お)|残っていません|更新済み|存在し|一致)"),
        (HEALTHY, _any(
            r"(?:サービス|サーバー?|ポッド|コンテナ|API|アプリ)[^。]*(?:稼働|起動して|応答|正常|利用可能|復旧)",
            r"正常に(?:稼働|起動|応答)",
            r"(?:200|OK)を?返",
        )),
        (DEPLOYED, r"(?:デプロイ|リリース|反映|公開)(?:済み|されました|が?完了)|本番[^。]*(?:反映|稼働)"),
        (FIXED, r"(?:修正済み|解消(?:され|しま)|解決(?:し(?:ました|ています)|され|済み)|直りました|なくなりました|修正されました)"),
        (WORKS, _any(
            r"(?:期待(?:どおり|通り)|正しく|正常に|問題なく)[^。]*(?:動作|機能|動き|処理|解釈|変換|表示|計算)",
            r"動作します",
            r"動作しています",
            r"動作することを確認",
        )),
        (CHECKED, r"(?:確認(?:済み|しました|できました|いたしました)|検証(?:済み|しました)|チェック(?:済み|しました))"),
    ),
}  # fmt: skip

# The agent says that it did not look, or that something went wrong.
ADMISSIONS: dict[str, str] = {
    "en": _any(
        r"\b(?:un(?:tested|verified|checked|confirmed|proven|tried|reviewed|validated)|not (?:been |yet been |yet |actually |fully |independently )?(?:tested|verified|checked|confirmed|validated|run|executed|exercised|reviewed|deployed|measured|tried))\b",
        r"\b(?:did not|didn't|have not|haven't|has not|hasn't|was not able to|wasn't able to|were not able|could not|couldn't|cannot|can't|unable to|was unable|without|never|not able to|failed to|no way to|no chance to)\b[^.]{0,40}\b(?:run|ran|running|test(?:ed|ing)?|execut\w+|verif\w+|check(?:ed|ing)?|confirm\w*|validat\w+|build|built|reproduc\w*|try|tried|open(?:ed)?|read|look(?:ed)?|compil\w+|deploy\w*|reach\w*|start\w*|measur\w+|lint\w*|load\w*|probe\w*|exercis\w+|access\w*|inspect\w*|say)\b",
        r"\b(?:is|are|was|were|still|remains?|currently|now|but|one|two|three|four|five|six|seven|eight|nine|\d+|test|tests|build|it|suite|rollout|deployment|migration|run|which|that|check|checks|lint|mypy|tsc)\b[^.]{0,40}\b(?:fail(?:s|ed|ing|ures?)?(?! (?:parts?|requests?|jobs?|uploads?|deliver\w+|attempts?|logins?|messages?|events?|tasks?|calls?|transactions?|payments?|builds?|items?|rows?|records?)\b)|broken(?! (?:by|down|up|into|out|ties?))|crash(?:es|ed|ing)|timed out|times out|errors? out|erroring|complain\w*|hangs?|unhealthy|unreachable)\b(?!\s+(?:silently|fast))",
        r"\b(?:is|are|was|went) down\b(?! (?:to|from|by|\d)\b)",
        r"\b(?:is|are|was) not (?:yet )?(?:fixed|resolved|solved)",
        r"\bnot (?:yet )?(?:fixed|resolved|working|healthy|complete|done|solved|green|passing|ready|reproduc\w+)\b",
        r"\bdoes(?:n't| not) (?:yet )?(?:work|pass(?! (?:its|the|an?|any|it|them|along|on|through|in|down)\b)|compile|build|start|go through|run|finish|load|boot|render|respond|hold)\b",
        r"(?:\b(?:not|never)|n't) (?:\w+ ){0,2}?(?:been )?(?:run|ran|executed|tested|verified|checked|tried)\b",
        r"\b(?:still )?(?:needs?|need|remains?|have|has) to be (?:run|tested|verified|checked|tried)\b",
        r"\b(?:nothing|none of it) (?:has been|was) (?:executed|run|tested|verified|checked|tried|measured|exercised)\b",
        r"\bno verification (?:was|has been)\b",
        r"\b(?:ran out of time|no time left?|before testing it)\b",
        r"\b(?:i've|i have) not been able to\b",
        r"\bpermission to \w+[^.]{0,30}\bwas denied\b",
        r"\basked me not to (?:run|test|execute)\b",
        r"\b(?:pass\w*|green)\b[^.]{0,20}\b(?:except|apart from|other than)\b",
        r"\b(?:one|two|three|four|\d+) (?:of them )?(?:doesn't|don't|does not|do not)\b",
        r"\b(?:isn't|aren't|is not|are not|wasn't|was not) (?:yet |fully |currently )?(?:healthy|up|reachable|available|running|live|stable|serving|responding|green|in place)\b",
        r"\b(?:is|are|was|were|still|stays?|remains?|goes|went|test|tests|suite|ci|pipeline|build) (?:still |now |all |currently )?red\b",
        r"`+ (?:still )?fails?\b|\b(?:does|do|did|can|will) (?:still )?crash\b|\b(?:isn't|is not|aren't|are not) (?:fully|completely|entirely|all|quite) (?:there|done|up|ready|working|complete)\b|\b(?:is|are|still|remain) (?:still )?pending\b",
        r"\bi (?:ran|tested|checked|tried|executed|verified|started|opened) (?:none|neither|nothing)\b",
        r"\b(?:could|can|did|have|was able to) neither\b|\bnone of (?:this|it|these|them) (?:has|have|was|were) (?:been )?(?:executed|run|tested|verified|tried|checked)\b|\bnot even an? \w+ (?:check|test|run) was\b",
        r"\b(?:could|can) ?not (?:yet )?be (?:created|applied|changed|installed|deployed|pushed|merged|updated|reached|completed|removed|deleted|restarted)\b",
        r"\b(?:do not|don't) (?:yet )?(?:know|pass|work|compile)\b",
        r"\bno (?:test )?results?\b",
        r"\bremains? (?:to be|open|unresolved)\b",
        r"\bstill (?:need|occur|happen|exist)\w*\b",
        r"\bstill (?:report|show|see)\w* (?:the |an? |same |it\b|\w+ )?(?:\w*error|fail|issue|problem|warning|crash|same|it\b)",
        r"\bno (?:(?:unit |integration |other |further |\w+ )?tests? (?:ran|run\b|were run|were executed|was run|exist\w*|cover\w*)|automated tests?)\b",
        r"\bthere(?:'s| is| was| were| are) no (?:\w+ )?(?:tests?|checks?|coverage|specs?|dry[- ]run) (?:of|for|on|that)\b",
        r"\bno (?:\w+ or )?(?:plan|apply|tests?|checks?|build|deploy\w*|lint\w*|migration|verification|dry run)(?: or \w+)? (?:was|were|has been) (?:done|run|executed|performed|made|attempted)\b",
        r"(?<!\d )\b(?:skipped|were skipped|was skipped)\b",
        r"\banswers? (?:with )?5\d\d\b",
        r"\breturns? (?:an? )?(?:http )?5\d\d\b",
        r"\bunclear whether\b",
        r"\bwhether\b[^.]{0,80}\b(?:is|remains?) (?:still )?(?:open|unknown|unclear|to be seen)\b",
        r"\bi can(?:'t|not) (?:say|tell|confirm|guarantee)",
        r"\bremain\w* (?:failing|failed|unverified|untested|red)\b",
        r"\broll(?:ed)? (?:it |this )?back\b",
        r"\b(?:i|we) (?:have )?no evidence\b",
        r"\bassum(?:e|ed|ing|ption)\b[^.]*\bnot\b",
        r"\b0 tests\b",
        r"\b0 (?:of|out of) \d+ (?:tests?|specs?)",
        r"\bexit (?:code|status) [1-9]\d*\b",
        r"\bno test (?:has|have|covers?|exercis\w+)",
        r"\bvouch\b",
        r"\bstops? with \d+ fail",
        r"\bcollected (?:0|no)\b",
        r"\bgate is (?:not met|red)",
        r"\bi (?:only )?(?:searched|looked at|checked|read|tested|covered|ran) (?:\S+ ){0,6}only(?=[,.;:)]|$)",
        r"\bi only (?:searched|checked|looked|tested|ran)",
        r"\b(?:is|are|was|were) (?:only )?(?:tested|checked|verified|exercised) (?:\S+ ){1,7}only\b",
        r"\bnot the (?:whole|full|entire|complete)\b",
        r"\bran no\b",
        r"\bran only\b",
        r"\bonly ran\b",
        r"\bnot run\b",
        r"\bnot (?:been )?(?:covered|exercised|measured)\b",
        r"\bnot (?:been |yet )?(?:met|finished|complete|restarted|reloaded|applied)\b",
        r"\bneither (?:\w+ )?(?:compiled|built|run|tested|tried|executed|checked|verified|deployed)\b",
        r"\bnor (?:run|tested|tried|executed|checked|verified|compiled|built)\b",
        r"\bneither\b[^.]{0,60}\bnor\b[^.]{0,40}\b(?:has|have) (?:seen|touched|run|looked)",
        r"\bnone was (?:made|run)",
        r"\bneither\b[^.]{0,60}\b(?:run|ran|tested|executed|checked|verified|built)\b",
        r"\b(?:i|we) (?:have not|haven't|did not|didn't|could not|couldn't|can't|cannot|was not able|wasn't able|am not able|do not know|don't know|have no way)\b",
        r"\bnot finished\b",
        r"\bexited (?:with )?(?:code )?[1-9]\d*\b",
    ),
    "de": _any(
        r"\bhabe ich\b[^.]{0,40}\bnicht\b",
        r"\bich habe\b[^.]{0,60}\bnicht\b",
        r"\bnicht\b[^.]{0,40}\b(?:ausgeführt|getestet|geprüft|überprüft|verifiziert|gestartet|gelaufen|bestätig\w+|bereit|behoben|laufen lassen|kontrolliert|deployt)\b",
        r"\b(?:ungetestet|ungeprüft|fehlgeschlagen|schl(?:ägt|agen|ugen)[^.]*fehl|fehlschl\w+|gescheitert|kaputt|rot)\b",
        r"\bkonnte\w*\b[^.]{0,60}\bnicht\b",
        r"\bnoch nicht\b",
        r"\bfehler(?:t|n)? noch\b",
    ),
    "es": _any(
        r"\bno (?:he|se ha|se han|pude|pudo|hemos|fue posible|está\w*|ha sido|logré|puedo)\b[^.]{0,40}\b(?:ejecutad\w+|probad\w+|verific\w+|comprob\w+|confirm\w+|ejecut\w+|corrid\w+|prob\w+|resuelt\w+)",
        r"\bsin (?:probar|verificar|comprobar)\b",
        r"\bno (?:lo |la |los |las )?(?:ejecuté|probé|verifiqué|comprobé|revisé|corrí|lancé|compilé|toqué y)\b",
        r"\b(?:falla\w*|fallan|fallando|falló|fallido|fallaron|roto)\b",
        r"\bsigue\w* (?:fallando|rot\w+)",
    ),
    "fr": _any(
        r"\bje ne (?:\w+ )?(?:l'|les )?ai pas\b",
        r"\bn'(?:ai|a|avons|est|ont|était)\b[^.]{0,30}\b(?:pas|pu)\b[^.]{0,40}\b(?:lancée?s?|exécutée?s?|testée?s?|vérifi\w+|confirm\w+|tester|lancer|exécuter|validée?s?|corrigée?s?|essayée?s?|tentée?s?|mesurée?s?)",
        r"\b(?:non testée?s?|non vérifiée?s?|échoue\w*|échouent|échoué\w*|en échec|cassée?s?)\b",
        r"\bn'ai pas pu\b",
    ),
    "ja": r"(?:未(?:確認|検証|実施|テスト)|行って(?:い|おり)ません|行いませんでした|(?:実行|確認|検証|テスト|実施)(?:は)?して(?:い|お)りません|していません(?:ので)?$|(?:確認|実行|検証|テスト|実施)できて(?:い|おり)ません|確認できません|失敗し(?:て|ま)|できませんでした|エラーが(?:残|出)|まだ(?:直|解決|修正)[^。]*ません)",
}  # fmt: skip

# What is about to be, might be, or is for somebody else to do.
PLANS: dict[str, str] = {
    "en": _any(
        r"^(?:add|create|update|remove|extract|move|draw|write|define|implement|introduce|migrate|replace|rename|document|configure|deploy|restore|rehearse|make|keep|enable|disable|monitor|measure|track|consider|agree|decide|identify|schedule|roll|prepare|collect|run|use|check|try|see|open|restart|call|execute|install|start|verify|compare|pull|merge|review|look|go|visit|ping|point|re-?run|apply)\b(?!:)(?! (?:is|was|are|were|has|came|passed|of)\b)",
        r"^(?:(?:next|then|finally|afterwards|after that|also|and|so|first|once that is done|if (?:that|this) helps|in that case)[, ]+)*(?:i|we)(?:'ll| will| would| could| can(?!'t|not)| may| might| plan| intend| am going| are going|'m going|'re going| want to| propose| suggest| recommend|'d (?:recommend|suggest|like|also|be|propose|go|say|then|advise)| should| need to| still need| shall)\b",
        r"^i(?:'m| am) (?:an?|your|here|happy|ready|able)\b",
        r"^nothing (?:else |more |further )?(?:is |for you )?(?:left )?(?:to (?:do|change|fix)|needed|required)\b",
        r"^(?:let me|let's|let us|let [\w`.]+ \w+|feel free|please|happy to(?! (?:report|say|confirm))|glad to(?! (?:report|say|confirm))|want me|would you|should i|shall i|do you|could you|can you|say the word|just|remember|make sure|be sure|don't forget|keep in mind|consider|i'm happy|note that you|you(?:'ll| will| can| may| could| might| should| need| want)|for (?:a )?follow|a follow-up (?:could|would|might|pr|change|task|ticket)|as a next step|next steps?|follow-ups?|todo|to do|recommended|suggestion|optional(?:ly)?|proposal|vorschlag)\b",
        r"^to (?:run|roll|verify|test|check|reproduce|apply|deploy|revert|undo|see|use|start|confirm|finish|enable)\b[^,]*,",
        r"\bin case you\b",
        r"\bif (?:you|that|this|the|it|they|we|anything|there)\b.{0,80}\b(?:let me|i can|i'll|feel|just|tell me|say)\b",
        r"^(?:if|once|when(?! (?:i|we) (?:re-?ran|ran|\w+ed)\b)|unless|until|as soon as|should(?! (?:now )?(?:be|work|pass|do|fix)\b)|whenever|in case)\b.*",
        r"\b(?:would|could) (?:need|require|make|be (?:worth|good|nice|useful))\b",
        r"\bthe plan is (?:to|that)\b",
        r"^(?:one|another|two) things? (?:to|you|worth)\b",
        r"^(?:goal|target|aim|done when|definition of done|acceptance)\b",
        r"\b(?:needs?|remains?) to be\b",
        r"\bneeds? to (?:run|apply|do|rerun|approve)\b",
        r"\bwill (?:run|be|stop|break|fail|become|change|lag|need|happen|take|cost|trigger|pick|roll|continue|start|still|then|only|also|have|show)\b",
        r"\bcan (?:go|be|now be|also)\b",
        r"\bcould be \w+(?:ed|d|t|n)\b",
        r"\b(?:i|we)'d (?!already|been|forgotten|missed|\w+ed\b)[a-z]+",
        r"\bi can (?:also|open|add|push|do|prepare|turn|split|follow|revert|look)\b",
        r"\btell me\b",
        r"\blet me know\b",
        r"\bif (?:everything|all|nothing|the tests?|tests)\b",
        r"\bif you(?:'d)? (?:like|want|prefer|need|agree)\b",
        r"\bat your convenience\b",
        r"^(?:after|with) that\b[^.]*\b(?:must|has to|have to|needs? to|should)\b",
        r"\bmust (?:still |then |all )?(?:pass|be|stay|remain|hold|work|build|compile)\b",
        r"\bwhen you're ready\b",
    ),
    "de": _any(
        r"^(?:als nächstes|danach|anschließend)?\s*(?:werde ich|ich werde|ich würde|ich kann|ich könnte|soll ich|sollen wir|bitte|falls|wenn|sobald|sagen sie|sag|vorschlag|gerne|möchten sie|möchtest du|sie können|du kannst|man kann|als nächstes)\b",
        r"\bwerde ich\b",
        r"\bwenn sie\b",
        r"\bbei bedarf\b",
        r"\bkönnen sie\b",
        r"\bkannst du\b",
    ),
    "es": _any(
        r"^(?:después|luego|a continuación)?\s*(?:voy a|puedo|podría|si |quieres|¿|ejecuta|por favor|cuando|una vez|recomiendo|sugiero|puedes|puede|avísame|dime)",
        r"\b\w+(?:aré|eré|iré)\b",
        r"\bsi (?:quieres|lo deseas|prefieres)\b",
    ),
    "fr": _any(
        r"^(?:ensuite|puis|après)?\s*(?:je vais|je peux|je pourrais|si |souhaitez|voulez|veuillez|pensez|n'hésitez|une fois|lorsque|quand|vous pouvez|vous pourrez|je recommande|je suggère|merci de|dites)",
        r"\bje \w+(?:erai|irai|rai)\b",
        r"\bsi vous\b",
    ),
    "ja": r"(?:ましょうか|でしょうか|ください|てください|予定です|実行します$|対応できます|可能です$|必要(?:であれば|なら|に応じて)|ご希望|場合は[^。]*(?:ください|ご連絡|お知らせ|お申し付け|可能です)|構いません|お知らせ|いかがで|したい(?:です|と)|次に.*ます$|(?:れ|え|け|せ|て|ね|べ|め|通れ|あれ)ば、)",
}  # fmt: skip

# Something was done; that is a report, and no claim about how things are now.
ACTIONS: dict[str, str] = {
    "en": r"^(?:(?:in a \w+ step|before \w+ing \w+|after \w+|first|then|next|finally|also|additionally|in addition|along the way|while there|as requested|as you asked|for this|to (?:do|fix) (?:this|that|so)|after that|and|so|here|instead|specifically|now)[, ]+)*(?:i|we)(?:'ve| have|'d| had)?(?: also| then| just| first| now| only| additionally| simply| even)* (?!(?:verified|confirmed|validated|tested|checked|double|ensured|made sure|proved|fixed|resolved|solved|watched|compared|reproduced|ran|executed|re-?ran|read|re-?read|reviewed|inspected|printed the diff|looked|went over|opened|changed nothing|did|didn't|do|don't|have|could|couldn't|was|wasn't|am|can|cannot|can't|think|believe|expect|left|made no)\b)\w+(?:ed|t|d|n|de|te|an|ut|uilt|ote|ook|ote|ut|et|pt|ew)?\b"
    r"|^(?:added|edited|modified|annotated|ported|backfilled|adapted|merged|updated|changed|removed|renamed|moved|created|replaced|refactored|extracted|introduced|switched|bumped|implemented|wrote|rewrote|set|adjusted|dropped|deleted|converted|split|merged|made|put|documented|documents?|used|kept|installed|configured|increased|decreased|raised|lowered|enabled|disabled|inlined|imported|exported|wrapped|cleaned up|simplified|pinned|upgraded|migrated|restarted|reloaded|recreated|applied|deployed|committed|pushed|patched|lower-cased|dropped|how it was|extended|reworked|tightened|corrected|what changed|changed files?|files? changed|summary|changes)\b",
    "de": r"^(?:dazu |dafür |außerdem |anschließend |zusätzlich )?(?:ich habe|habe ich|wir haben)\b(?!.*\b(?:überprüft|geprüft|verifiziert|bestätigt|getestet|sichergestellt|keine)\b)",
    "es": r"^(?:también |además )?(?:he|hemos) (?!verificado|comprobado|confirmado|probado|revisado)\w+(?:ado|ido|cho|sto|to)\b",
    "fr": r"^(?:j'ai|nous avons|je l'ai)(?: aussi| également| ensuite)? (?!vérifié|confirmé|testé|validé|pu|pas|modifié aucun)\w+",
    "ja": r"(?:を[^。]*(?:変更|追加|更新|修正|削除|作成|移動|置換|実装)しました|に(?:変更|更新)しました|対応が完了しました|確認しました$)",
}  # fmt: skip

HEDGES = re.compile(
    r"\bought to\b|\b(?:might|may) (?:still )?(?:behave|differ|vary)\b|\b(?:should|would|could|might|may)(?: now| all| also| then)?(?: be)? (?:work\w*|fix\w*|resolv\w*|pass\w*|be (?:fine|ok|good|able|working|resolved|fixed|healthy|enough)|do the trick|handle\w*|solve\w*|compile|build|function\w*|run\w*)\b|\b(?:probably|likely|presumably|seems? to|appears? to|hopefully|supposedly|in theory|i (?:think|believe|assume|guess|expect|suspect)|most likely|as far as i can tell)\b"
    r"|(?:(?<=^it )|(?<=^this )|(?<=^that )|(?<=^which )|(?<=^they ))(?:should|might|may|could)(?: \w+){1,2}"
    r"|\b(?:sollte|müsste|dürfte)\w* (?:jetzt |nun |damit )?\w*|\b(?:wahrscheinlich|vermutlich|ich (?:glaube|denke|nehme an))\b|\b(?:debería\w*|probablemente|seguramente|creo que|supongo)\b|\b(?:devrait|probablement|sans doute|je (?:pense|crois|suppose))\b|(?:はず(?:です)?|と思います|と思われます|でしょう|おそらく|たぶん)",
    re.IGNORECASE,
)

REPORTED = re.compile(
    r"\b(?:(?:the )?(?:ticket|issue|comment|author|maintainer|user|customer|reviewer|you|colleague|team|email|message|commit message|pr description|upstream|helper|sub-?agent|bot|implementer|agent|note)(?: \w+)? (?:says?|said|wrote|writes|quoted?|claims?|claimed|states?|stated|mention(?:s|ed)?|reports?|reported|noted|refers?))\b|\b(?:ticket|issue|author|reviewer|customer|colleague)'s (?:comment|note|claim|message|report|words)\b|\bas you (?:wrote|said|mentioned|noted)\b|\baccording to\b|\bquote\b|\blaut\b|\bselon\b|\bsegún\b",
    re.IGNORECASE,
)

# Headings under which nothing is claimed.
PLAN_HEADINGS = re.compile(
    r"next steps?|follow|to ?do|recommend|suggest|how to|usage|instructions?|deploy(?:ment)? (?:steps|instructions)|what('s| is) (?:left|next)|open (?:points|questions)|questions?|plan|proposal|optional|rollback|remaining|nächste schritte|vorschl|próximos pasos|prochaines étapes|次のステップ|今後",
    re.IGNORECASE,
)
ACTION_HEADINGS = re.compile(
    r"^(?:what (?:i )?(?:changed|did)|changes?(?: made)?|files? (?:changed|touched|modified)|summary of (?:the )?changes|implementation|modified files?|edits|änderungen|cambios|modifications|変更(?:点|内容)?)\b",
    re.IGNORECASE,
)

SUBJECTIVE = re.compile(
    r"\b(?:cleaner|simpler|more readable|easier to (?:read|maintain|understand|extend)|more maintainable|better|nicer|elegant|robust|more robust|more consistent|improv\w+ (?:readability|maintainability|clarity|the experience)|user-friendly|intuitive|best practice\w*|state of the art|future-proof|good (?:practice|fit)|well[- ]structured|reasonable|sensible|low[- ]risk|risk is low|minimal|(?:great|good|better) shape|looks (?:good|great|nice|neat)|polished|reads? (?:more easily|better|nicer|well)|easier on the eyes|tidier|neater|más (?:legible|claro|limpio|sencillo)|lesbarer|übersichtlicher|sauberer|plus (?:lisible|clair|simple|propre))\b|読みやす|見やす",
    re.IGNORECASE,
)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compiled once; all of them are written so that a long statement costs time in proportion."""
    return re.compile(pattern, re.IGNORECASE)


_SIGNS = {
    "ja": re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]"),
    "de": re.compile(
        r"\b(?:ich|ist|sind|nicht|der|die|das|und|wurde|wird|habe|alle|keine|mit|auf|für|jetzt|wieder|läuft)\b|[äöüß]",
        re.IGNORECASE,
    ),
    "es": re.compile(
        r"\b(?:el|la|los|las|está|están|he|se|con|para|todas?|todos?|una?|ahora|sin|que|por)\b|[ñ¿¡]",
        re.IGNORECASE,
    ),
    "fr": re.compile(
        r"\b(?:le|la|les|est|sont|je|j'ai|pas|avec|pour|tous|toutes|une?|désormais|sans|des|du|de|en|n'ai|que)\b|[éèêç]|\bl'",
        re.IGNORECASE,
    ),
    "en": re.compile(
        r"\b(?:the|is|are|and|was|not|this|that|it|with|all|now|have|has|for|to|of)\b",
        re.IGNORECASE,
    ),
}


def language_of_text(text: str) -> str:
    """The language of a message by its small words; English where nothing stands out."""
    sample = text[:5000]
    if len(_SIGNS["ja"].findall(sample)) * 8 > len(sample.split()) and _SIGNS["ja"].search(sample):
        return "ja"
    counts = {name: len(sign.findall(sample)) for name, sign in _SIGNS.items() if name != "ja"}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > counts["en"] else "en"


# Things that somebody did to a file, a service or data, in the past: what then has to be shown.
OPERATIONS = (
    r"(?-i:\b(?:Edit|MultiEdit|Write|NotebookEdit|Deploy)(?:ing)?\b(?=[ :(→]))|\b(?:deploying|editing|applying|restarting)\b|"
    r"\b(?:edited|modified|updated|changed|wrote|rewrote|created|added|removed|deleted|renamed|replaced|refactored|implemented|fixed|patched|moved|extracted|introduced|deployed|restarted|reloaded|rolled out|released|published|upgraded|bumped|migrated|applied|backfilled|merged|ported|annotated|configured|installed|enabled|disabled|set (?:the|it|up|`)|switched|converted|split|adjusted|corrected|resolved|inlined|optimi[sz]ed|shipped|provisioned|tuned|increased|decreased|raised|lowered)\b"
    r"|\b(?:geändert|bearbeitet|angepasst|hinzugefügt|entfernt|umbenannt|ersetzt|behoben|korrigiert|deployt|ausgerollt|aktualisiert|eingerichtet|neu gestartet|implementiert|umgestellt|erhöht)\b"
    r"|\b(?:editad[oa]|modificad[oa]|cambiad[oa]|actualizad[oa]|añadid[oa]|eliminad[oa]|corregid[oa]|desplegad[oa]|reiniciad[oa]|creado|agregado|implementado|arreglado)\b"
    r"|\b(?:modifié|édité|changé|ajouté|supprimé|renommé|remplacé|corrigé|déployé|redémarré|mis à jour|créé|implémenté)e?s?\b"
    r"|(?:変更|修正|追加|削除|更新|作成|実装|デプロイ|置換|再起動)(?:し|いたし)"
)
CODE_WORK = r"\b(?:function|method|class|module|code|bug|test|refactor|implement|endpoint|api|parser|handler|component|logic|algorithm|import|query|script|deadlock|race|leak|crash|exception)\w*\b"

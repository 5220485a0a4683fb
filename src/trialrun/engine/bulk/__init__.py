"""Score many traces: split into chunks, judged chunk by chunk, merged in the order of the input.

`chunks` plans, `work` turns a chunk into a part (a pure function), `local`, `dask` and `shards`
decide where chunks are judged, and `merge` puts the parts together.
"""

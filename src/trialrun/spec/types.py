"""Types of values that several parts of a spec share."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from trialrun.model.case import MODULE_AND_NAME, WEB_ADDRESS

Text = Annotated[str, Meta(min_length=1)]
# Do not use in a union: msgspec 0.22 frees the pattern of a text there too often, and the process
# crashes in a later search.
Function = Annotated[str, Meta(pattern=MODULE_AND_NAME)]
Address = Annotated[str, Meta(pattern=WEB_ADDRESS)]
Command = Annotated[list[Text], Meta(min_length=1)]
Seconds = Annotated[float, Meta(gt=0)]

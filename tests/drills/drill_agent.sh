# The same agent as a command. A shell starts quicker than Python, and 200 of them are started.
asked=$(cat)
[ -n "$asked" ] || exit 8  # killed before it said what it wants
case=${asked#*\"input\":\"}
case=${case%%\"*}
printf '%s %s %s\n' "$case" "$DRILL_MARK" $$ >> "$DRILL_LOG"
[ -z "$DRILL_SECONDS" ] || sleep "$DRILL_SECONDS"
[ $((case % 50)) = 7 ] && { echo "no answer to this one" >&2; exit 9; }
[ $((case % 10)) = 3 ] && { echo "wrong $case"; exit 0; }
echo "right $case"

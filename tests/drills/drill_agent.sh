# The same agent as a command. It is a shell script because 200 are started, and a shell starts
# faster than Python.
asked=$(cat)
[ -n "$asked" ] || exit 8  # trialrun was killed before it sent the question
case=${asked#*\"input\":\"}
case=${case%%\"*}
printf '%s %s %s\n' "$case" "$DRILL_MARK" $$ >> "$DRILL_LOG"
[ -z "$DRILL_SECONDS" ] || sleep "$DRILL_SECONDS"
[ $((case % 50)) = 7 ] && { echo "no answer to this one" >&2; exit 9; }
[ $((case % 10)) = 3 ] && { echo "wrong $case"; exit 0; }
echo "right $case"

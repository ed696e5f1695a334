#!/usr/bin/env bash
# Every page of docs/ that a tracked file names is there, and so is what links of a page lead to.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0

missing() {
    echo "$1 names $2, which is not there"
    failed=1
}

while IFS=: read -r file page; do
    [ -e "$page" ] || missing "$file" "$page"
done < <(git grep -oE 'docs/[a-z0-9_-]+\.md' -- ':!CHANGELOG.md' | sort -u)

while IFS=: read -r file link; do
    target=${link#"]("}
    target=${target%[)#]*}
    [ -e "$(dirname "$file")/$target" ] || missing "$file" "$target"
done < <(git grep -oE '\]\([^):#]+[)#]' -- '*.md' | sort -u)

exit "$failed"

#!/bin/sh
# Removes what `cmake --install` copied: the files that it listed, then the folders that
# are Weir's own and empty. usage: uninstall.sh PREFIX
set -eu

prefix=$1
list=$prefix/share/weir/installed-files
if [ ! -r "$list" ]; then
    echo "weir: $list does not exist: nothing of Weir is installed there" >&2
    exit 1
fi
while IFS= read -r file; do
    rm -f -- "$file"
done <"$list"
rm -f -- "$list"
for folder in share/weir share/doc/weir/examples share/doc/weir; do
    rmdir -- "$prefix/$folder" 2>/dev/null || true
done
echo "weir: removed from $prefix"

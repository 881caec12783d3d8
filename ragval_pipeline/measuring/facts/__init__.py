"""The files of facts: writing them bucket by bucket, and reading those of this run or an earlier one."""

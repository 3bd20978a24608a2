"""Trees in the files of other programs -> the columns of a binary tree. In the importing child; numpy alone.

formats.py          which formats there are, and which one a file is of
read.py             a file to its columns; how they are handed over
found.py            what a reader gives, and what readers share: arrays of a file, sizes that are checked first
wide.py             nodes of up to eight children as binary ones
tinybvh.py tinybvh_wide.py madmann91.py three_mesh_bvh.py embree.py archive.py   a reader each
"""

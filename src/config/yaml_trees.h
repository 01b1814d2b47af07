/* Parsed files as bytes: of each its path and a NUL, how many bytes follow, the hash of its text, how many nodes, the
 * nodes; at the end a NUL. Numbers are LEB128. A node: flags, line, column; its key's line, column and text; the text
 * of a scalar or the number of children; how far its next sibling is. Internal to src/config and to what makes them. */
#pragma once

#include "config/yaml.h"

enum {
  NAI_TREE_KIND = 3,
  NAI_TREE_PLAIN = 4,
  NAI_TREE_ONE_LINE = 8,
  NAI_TREE_KEY = 16,  /* it has a key */
  NAI_TREE_NEXT = 32, /* it has a next sibling */
};

extern const unsigned char nai_yaml_trees[];

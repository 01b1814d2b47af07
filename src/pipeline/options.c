#include "pipeline/options.h"

void nai_options_init(struct nai_options *options) {
  *options = (struct nai_options){
      .top = 10,
      .map_nvtx = true,
      .nvtx_coverage_warn_threshold = -1,
      .keep_stages = true,
      .reader = NAI_READER_AUTO,
  };
}

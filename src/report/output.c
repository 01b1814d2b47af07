#include "report/output.h"

const struct nai_output *const nai_outputs[] = {&nai_output_html, &nai_output_json, &nai_output_markdown,
                                                &nai_output_csv, NULL};

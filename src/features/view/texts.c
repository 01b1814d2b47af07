/* Texts that several panels show: times, the legend. */
#include "features/view/state.h"

#include "base/fmt.h"

static int decimals_for(int64_t step) {
  int decimals = 9;
  for (; decimals > 0 && step >= 10; decimals--)
    step /= 10;
  return decimals;
}

static void print_rounded(struct nai_buf *out, const struct nai_term *v, int64_t t, int decimals) {
  int64_t scale = 1;
  t -= v->relative ? v->scene.first : 0;
  for (int i = decimals; i < 9; i++)
    scale *= 10;
  nai_fmt_scaled(out, t / scale, decimals);
}

void nai_print_tick(struct nai_buf *out, const struct nai_term *v, int64_t t, int64_t step) {
  print_rounded(out, v, t, decimals_for(step));
}

void nai_print_time(struct nai_buf *out, const struct nai_term *v, int64_t t) {
  int columns = nai_term_layout(v).columns;
  int decimals = decimals_for((v->now.end - v->now.start) / (columns > 0 ? columns : 1));
  print_rounded(out, v, t, decimals < 3 ? 3 : decimals);
  nai_buf_puts(out, " s");
}

void nai_draw_legend(struct nai_buf *out) {
  nai_buf_puts(out, "C computation  X communication  M copies  . idle\ngaps: ");
  nai_cause_letters(out);
  nai_buf_puts(out, "\n");
}

// Prints the report of a program at its end: failed checks, and for engines that cannot read guest
// memory (`report` of the boot block) records and tables. Each is a line `uc: key=value ...`.
#include "runtime.h"

#define MOST_FAILURES_TOLD 8

uint64_t uc_report_failures(unsigned harts) {
  uint64_t failed_harts = 0;
  for (unsigned hart = 0; hart < harts; hart++) {
    const struct uc_record* record = &uc_record[hart].record;
    if (!record->failures || ++failed_harts > MOST_FAILURES_TOLD) continue;
    uc_put("uc: check failed hart=");
    uc_put_number(hart);
    uc_put(" times=");
    uc_put_number(record->failures);
    uc_put(" ");
    uc_put(record->why);
    uc_put("\n");
  }
  if (failed_harts > MOST_FAILURES_TOLD) {
    uc_put("uc: check failed on harts in all: ");
    uc_put_number(failed_harts);
    uc_put("\n");
  }
  return failed_harts;
}

static uint64_t uc_measured_ops(const struct uc_record* record) {
  return (record->end_ns ? record->ended_at : record->ops) - record->begun_at;
}

static void put_field(const char* key, uint64_t value) {
  uc_put(key);
  uc_put_number(value);
}

static void put_table(const struct uc_table* table) {
  for (uint64_t row = 0; row < table->rows; row++) {
    uc_put("uc: table=");
    uc_put(table->name);
    put_field(" row=", row);
    uc_put(" cells=");
    for (uint64_t col = 0; col < table->cols; col++)
      put_field(col ? "," : "", *uc_cell(table, row, col));
    uc_put("\n");
  }
}

void uc_report(unsigned harts) {
  for (unsigned hart = 0; hart < harts; hart++) {
    const struct uc_record* record = &uc_record[hart].record;
    put_field("uc: hart=", hart);
    put_field(" ops=", uc_measured_ops(record));
    put_field(" begin=", record->begin_ns);
    put_field(" end=", record->end_ns);
    put_field(" failures=", record->failures);
    uc_put("\n");
  }
  for (const struct uc_table* table = uc_tables_begin; table < uc_tables_end; table++)
    put_table(table);
}

void uc_table_make(struct uc_table* table, uint64_t rows, uint64_t cols) {
  table->cells = uc_alloc(rows * cols * sizeof *table->cells, 0);
  table->rows = rows;
  table->cols = cols;
}

// Walks over rows: sequences of pages, each starting after the last key of the one before it.
import type { PageOptions, Row, RowReader } from './contract.js';
import type { KeyRange } from './keys.js';

/** All rows of the range, in pages. */
export async function* pagesOf(
  rows: Pick<RowReader, 'page'>,
  range: KeyRange,
  options: PageOptions = {},
): AsyncGenerator<Row[], void, undefined> {
  let { after } = options;
  for (;;) {
    const page = await rows.page(range, { ...options, after });
    if (page.length === 0) return;
    after = page.at(-1)?.[0];
    yield page;
  }
}

/** Like {@link pagesOf}, without the values. */
export async function* pagesOfKeys(
  rows: RowReader,
  range: KeyRange,
  options: PageOptions = {},
): AsyncGenerator<Uint8Array[], void, undefined> {
  let { after } = options;
  for (;;) {
    const page = await rows.pageOfKeys(range, { ...options, after });
    if (page.length === 0) return;
    after = page.at(-1);
    yield page;
  }
}

/** Number of rows in the range. Costs a walk over all keys. */
export async function countRows(rows: RowReader, range: KeyRange): Promise<number> {
  let count = 0;
  for await (const keys of pagesOfKeys(rows, range)) count += keys.length;
  return count;
}

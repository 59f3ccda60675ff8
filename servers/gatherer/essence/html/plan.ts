import type { ExtractionTable, TagMapping } from '../sgml/table.js';

/** What the walk does at one tag, found by a single look-up. */
export interface TagPlan {
  readonly mapping: TagMapping | undefined;
  /** Content, links and all are passed over (E-104). */
  readonly skip: boolean;
  /** Begins and ends a line (E-95). */
  readonly block: boolean;
  /** A blank separates its text from the neighbours'. */
  readonly cell: boolean;
  /** May stand before the body without opening it. */
  readonly head: boolean;
}

const SKIPPED = ['script', 'style', 'template', 'svg'];
const CELLS = ['td', 'th', 'option', 'img', 'button', 'label'];
/** Looked at for links even when the table does not name them. */
const LINKS = ['a', 'area', 'frame', 'iframe', 'link', 'base', 'meta'];
const HEADS = [
  'html',
  'head',
  'title',
  'meta',
  'link',
  'base',
  'script',
  'style',
  'noscript',
  'template',
  'frameset',
  'frame',
];
const BLOCKS = (
  'address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure ' +
  'footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe legend li main menu nav ol optgroup p pre search ' +
  'section select summary table tbody textarea tfoot thead title tr ul'
).split(' ');

const plans = new WeakMap<ExtractionTable, ReadonlyMap<string, TagPlan>>();

/** The plan of a table; made once. Tags that are not in it are transparent: their text is the parent's (E-90). */
export function walkPlan(table: ExtractionTable): ReadonlyMap<string, TagPlan> {
  const known = plans.get(table);
  if (known !== undefined) return known;
  const plan = new Map<string, TagPlan>();
  for (const tag of new Set([...table.keys(), ...SKIPPED, ...CELLS, ...LINKS, ...HEADS, ...BLOCKS])) {
    plan.set(tag, {
      mapping: table.get(tag),
      skip: SKIPPED.includes(tag),
      block: BLOCKS.includes(tag),
      cell: CELLS.includes(tag),
      head: HEADS.includes(tag),
    });
  }
  plans.set(table, plan);
  return plan;
}

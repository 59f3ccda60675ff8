import type { ExtractionTable, TagMapping } from '../sgml/table.js';
import { wordLists, words } from '../word-tables.js';
import { CHOICES, NAVIGATION_ATTRIBUTES, NAVIGATION_TAGS, PARTS_OF_PAGES } from './navigation.js';
import { TagTable } from './tags.js';

/** The actions of the walk at one tag, found by a single lookup. */
export interface TagPlan {
  readonly mapping: TagMapping | undefined;
  /** The content is skipped, links included (E-104). */
  readonly skip: boolean;
  /** A drawing: of its content only texts that it shows count. */
  readonly drawing: boolean;
  /** Begins and ends a line (E-95). */
  readonly block: boolean;
  /** A blank separates its text from the text around it. */
  readonly cell: boolean;
  /** May occur before the body without opening it. */
  readonly head: boolean;
  /** May be navigation, or a part of the page. */
  readonly region: boolean;
  /** Attributes that the table or the link collector needs; absent if no attribute is needed. */
  readonly attributeNames?: ReadonlySet<string>;
}

/** The name under which the table maps the properties of JSON-LD scripts. */
export const JSON_LD = 'json-ld';

const SKIPPED = ['script', 'style', 'template'];
const DRAWINGS = ['svg'];
const CELLS = ['td', 'th', 'option', 'img', 'button', 'label'];
/** Attributes with links, which are read even if the table does not name them. */
const LINKS = wordLists({
  a: 'href',
  area: 'href',
  frame: 'src',
  iframe: 'src',
  link: 'href rel',
  base: 'href',
  meta: 'content name http-equiv',
});
const HEADS = words('html head title meta link base script style noscript template frameset frame');
const BLOCKS = words(
  'address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure ' +
    'footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe legend li main menu nav ol optgroup p pre search ' +
    'section select summary table tbody textarea tfoot thead title tr ul',
);

const plans = new WeakMap<ExtractionTable, TagTable<TagPlan>>();
const plansWithNavigation = new WeakMap<ExtractionTable, TagTable<TagPlan>>();
const REGIONS: ReadonlySet<string> = new Set([...NAVIGATION_TAGS, ...PARTS_OF_PAGES]);

/**
 * Compiles the plan of a table, once. Tags that are not in it are transparent: their text belongs to the parent
 * (E-90).
 *
 * @param navigation whether elements that are navigation are told from others
 */
export function walkPlan(table: ExtractionTable, navigation: boolean): TagTable<TagPlan> {
  const tables = navigation ? plansWithNavigation : plans;
  const known = tables.get(table);
  if (known !== undefined) return known;
  const plan = new Map<string, TagPlan>();
  const tags = [...table.keys()].filter((tag) => tag !== JSON_LD);
  for (const tag of new Set([
    ...tags,
    ...SKIPPED,
    ...DRAWINGS,
    ...CELLS,
    ...LINKS.keys(),
    ...HEADS,
    ...BLOCKS,
    ...(navigation ? [...REGIONS, ...CHOICES] : []),
  ])) {
    const mapping = table.get(tag);
    const attributeNames = new Set([...(LINKS.get(tag) ?? []), ...attributesOf(mapping)]);
    if (navigation && NAVIGATION_TAGS.has(tag))
      for (const name of NAVIGATION_ATTRIBUTES) attributeNames.add(name);
    if (tag === 'script' && table.has(JSON_LD)) attributeNames.add('type');
    plan.set(tag, {
      mapping,
      skip: SKIPPED.includes(tag),
      drawing: DRAWINGS.includes(tag),
      block: BLOCKS.includes(tag),
      cell: CELLS.includes(tag),
      head: HEADS.includes(tag),
      region: navigation && REGIONS.has(tag),
      ...(attributeNames.size === 0 ? {} : { attributeNames }),
    });
  }
  const compiled = new TagTable(plan);
  tables.set(table, compiled);
  return compiled;
}

/** The attributes that the table's lines name (E-89). */
function* attributesOf(mapping: TagMapping | undefined): Generator<string> {
  if (mapping === undefined) return;
  for (const { when } of mapping.conditional) yield when.attribute;
  yield* mapping.valuesWhen.keys();
  const conditional = [...mapping.valuesWhen.values()].flatMap((byValue) => [...byValue.values()].flat());
  for (const { attribute, target, kind } of [...mapping.values, ...conditional]) {
    yield attribute;
    if (kind === 'indirect') yield target;
  }
}

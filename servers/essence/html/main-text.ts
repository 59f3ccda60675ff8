import { namesByWord, wordSet, words } from '../word-tables.js';
import { type HtmlHandler, readHtml, type TagAttributes } from './reader.js';
import { type Tag, TagTable } from './tags.js';

// Main text without navigation, advertisements and the like: the page is a list of blocks, and each is kept or
// dropped by its number of words and its share of words in links, and those of the blocks before and after it
// (Kohlschütter, Fankhauser, Nejdl: Boilerplate Detection using Shallow Text Features, WSDM 2010, figure 1).
// The page's own statements precede: elements and roles for navigation, names of classes.

/** The meaning of an element's start for the main text. */
interface BlockPlan {
  readonly attributeNames?: ReadonlySet<string>;
  readonly kind: 'block' | 'main' | 'furniture' | 'skip' | 'link' | 'heading' | 'cell';
}

const SKIP =
  'script style template svg noscript iframe object canvas math select option textarea button datalist head title';
const FURNITURE = 'nav footer aside menu dialog search form';
const BLOCK =
  'address blockquote caption center dd details dir div dl dt fieldset figcaption figure header hgroup hr legend li ol optgroup ' +
  'p pre section summary table tbody tfoot thead tr ul';
const ROLES = namesByWord({
  main: 'main article',
  furniture:
    'navigation banner contentinfo complementary search menu menubar toolbar dialog alert alertdialog form tablist tree',
});

/** Names of classes and IDs for parts that are not the main text; a whole word of the name. */
const FURNITURE_NAMES = wordSet(
  'nav navbar navigation menu sidebar footer breadcrumb breadcrumbs cookie cookies consent share sharing social related promo advert ' +
    'advertisement ads ad banner newsletter subscribe pagination pager toc masthead skip comments disqus sponsor popup modal navheader navfooter ' +
    'sphinxsidebar toolbar hidden',
);
/** Names of classes that say that an element has such a part, or is the main text itself. */
const CONTENT_NAMES = wordSet(
  'content main article body has with without no layout wrapper wrap container page post entry text',
);
/** Characters of a class or ID that are examined. */
const MAX_NAMES = 200;
/** Minimum number of words of an ARTICLE or MAIN whose content alone is examined. */
const MIN_MAIN_WORDS = 50;
/** Minimum number of words of the first block that is no heading. */
const MIN_FIRST_WORDS = 4;
/** Depth of open elements at which reading stops. */
const MAX_DEPTH = 10_000;

/** White space other than a single blank: an expression that also matched those would match at every word. */
const COLLAPSIBLE = /[^\S ]\s*| \s+/g;

const NAMED = new Set(['class', 'id', 'role', 'hidden', 'aria-hidden']);

function plans(): TagTable<BlockPlan> {
  const map = new Map<string, BlockPlan>();
  const add = (names: string, plan: BlockPlan) => {
    for (const name of words(names)) map.set(name, plan);
  };
  add(SKIP, { kind: 'skip' });
  add(BLOCK, { kind: 'block' });
  add('div section header table tbody ul ol dl', { kind: 'block', attributeNames: NAMED });
  add('body html hr', { kind: 'block' });
  add('main article', { kind: 'main' });
  add(FURNITURE, { kind: 'furniture' });
  add('a', { kind: 'link' });
  add('h1 h2 h3 h4 h5 h6', { kind: 'heading' });
  add('td th img br', { kind: 'cell' });
  return new TagTable(map);
}

const TABLE = plans();

interface Block {
  readonly text: string;
  readonly words: number;
  readonly linkedWords: number;
  readonly inMain: boolean;
  readonly heading: boolean;
}

/**
 * Returns the main text of a page: a line for each block that is kept, empty without such blocks. Takes time
 * linear in the page's length.
 *
 * @param maxCharacters - of the result
 */
export function mainText(html: string, maxCharacters = Number.POSITIVE_INFINITY): string {
  const reader = new BlockReader();
  readHtml(html, TABLE, reader, MAX_DEPTH);
  const blocks = reader.finish();
  const inMain = blocks.filter((block) => block.inMain);
  const region = wordsOf(inMain) >= MIN_MAIN_WORDS ? inMain : blocks;
  const kept = region.filter((_, i) => isContent(region, i));
  let length = 0;
  const lines: string[] = [];
  for (const { text } of withHeadings(region, new Set(kept))) {
    length += text.length + 1;
    if (length > maxCharacters) break;
    lines.push(text);
  }
  return lines.join('\n');
}

function wordsOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { words }) => sum + words, 0);
}

/** Share of words in links; of no block 0. */
function linkDensity(block: Block | undefined): number {
  return block === undefined || block.words === 0 ? 0 : block.linkedWords / block.words;
}

/** The decision tree of the paper; its numbers are those that were learned there. */
function isContent(blocks: readonly Block[], index: number): boolean {
  const block = blocks[index]!;
  const before = blocks[index - 1]?.words ?? 0;
  const after = blocks[index + 1]?.words ?? 0;
  if (linkDensity(block) > 0.333333) return false;
  if (linkDensity(blocks[index - 1]) > 0.555556) return block.words > 40 || after > 17;
  return block.words > 16 || after > 15 || before > 4;
}

/** A heading stays if a block that is kept follows it; one at the end of the kept text is dropped. */
function withHeadings(blocks: readonly Block[], kept: ReadonlySet<Block>): Block[] {
  const result: Block[] = [];
  let follows = false;
  for (let i = blocks.length - 1; i >= 0; i--) {
    const block = blocks[i]!;
    const isKept: boolean = block.heading ? follows : kept.has(block);
    if (isKept) result.push(block);
    if (!block.heading) follows = isKept;
  }
  result.reverse();
  // Short lines before the first paragraph are labels.
  const start = result.findIndex(({ heading, words }) => heading || words >= MIN_FIRST_WORDS);
  return start < 0 ? [] : result.slice(start);
}

class BlockReader implements HtmlHandler<BlockPlan> {
  readonly #blocks: Block[] = [];
  #depth = 0;
  #skippedDepth = 0;
  #mainDepth = 0;
  #linkDepth = 0;
  #headingDepth = 0;
  #pieces: string[] = [];
  #words = 0;
  #linkedWords = 0;

  open({ plan, isVoid }: Tag<BlockPlan>, attributes: TagAttributes): void {
    const depth = ++this.#depth;
    if (this.#skippedDepth > 0 || plan === undefined) return;
    const kind = plan.attributeNames === undefined ? plan.kind : kindOf(plan, attributes);
    if (kind === 'cell') this.#pieces.push(' ');
    else if (kind === 'link') {
      if (this.#linkDepth === 0) this.#linkDepth = depth;
    } else this.#end();
    if ((kind === 'skip' || kind === 'furniture') && !isVoid) this.#skippedDepth = depth;
    else if (kind === 'main' && this.#mainDepth === 0) this.#mainDepth = depth;
    else if (kind === 'heading') this.#headingDepth = depth;
  }

  text(source: string, start: number, end: number): void {
    if (this.#skippedDepth > 0) return;
    this.#pieces.push(source.slice(start, end));
    const words = countWords(source, start, end);
    this.#words += words;
    if (this.#linkDepth > 0) this.#linkedWords += words;
  }

  close({ plan }: Tag<BlockPlan>): void {
    const depth = this.#depth--;
    if (this.#skippedDepth > 0) {
      if (depth === this.#skippedDepth) this.#skippedDepth = 0;
      return;
    }
    if (plan === undefined) return;
    if (plan.kind === 'cell') this.#pieces.push(' ');
    else if (plan.kind !== 'link') this.#end();
    if (depth === this.#linkDepth) this.#linkDepth = 0;
    if (depth === this.#mainDepth) this.#mainDepth = 0;
    if (depth === this.#headingDepth) this.#headingDepth = 0;
  }

  finish(): readonly Block[] {
    this.#end();
    return this.#blocks;
  }

  #end(): void {
    if (this.#pieces.length === 0) return;
    const text = this.#pieces.join('').replace(COLLAPSIBLE, ' ').trim();
    if (text !== '') {
      this.#blocks.push({
        text,
        words: Math.max(1, this.#words),
        linkedWords: this.#linkedWords,
        inMain: this.#mainDepth > 0,
        heading: this.#headingDepth > 0,
      });
    }
    this.#pieces = [];
    this.#words = 0;
    this.#linkedWords = 0;
  }
}

function kindOf(plan: BlockPlan, attributes: TagAttributes): BlockPlan['kind'] {
  if (attributes.hidden !== undefined || attributes['aria-hidden'] === 'true') return 'furniture';
  const role = attributes.role === undefined ? undefined : ROLES.get(attributes.role.trim().toLowerCase());
  if (role !== undefined) return role;
  const { class: classes, id } = attributes;
  return isFurniture(classes) || isFurniture(id) ? 'furniture' : plan.kind;
}

const known = new Map<string, boolean>();
const MAX_KNOWN = 2000;

/**
 * Whether a class or an ID has a name of {@link FURNITURE_NAMES}. Pages repeat their classes, so that the
 * answers are kept.
 */
function isFurniture(names: string | undefined): boolean {
  if (names === undefined || names.length > MAX_NAMES) return false;
  let result = known.get(names);
  if (result === undefined) {
    const words = names
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .split(/[^a-z]+/);
    result =
      words.some((word) => FURNITURE_NAMES.has(word)) && !words.some((word) => CONTENT_NAMES.has(word));
    if (known.size < MAX_KNOWN) known.set(names, result);
  }
  return result;
}

/**
 * Counts words; a Chinese, Japanese or Korean character counts as half of one, because no blanks separate their
 * words.
 */
function countWords(text: string, start: number, end: number): number {
  let words = 0;
  let inWord = false;
  for (let i = start; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c >= 0x2e80 && c < 0xd7b0) {
      words += 0.5;
      inWord = false;
    } else if (c > 0x20 && c !== 0xa0) {
      if (!inWord) words++;
      inWord = true;
    } else inWord = false;
  }
  return words;
}

// The navigation of a page: menus, breadcrumbs, links to the pages before and after, footers. Elements, roles and
// names of classes say what they are.
import { wordSet } from '../word-tables.js';
import type { TagAttributes } from './reader.js';

/** `certain`; or `likely`, if most of its text is in links and fields of forms. */
type NavigationKind = 'certain' | 'likely';

/** The attributes that say what an element is, and the elements whose attributes are read. */
export const NAVIGATION_ATTRIBUTES = ['class', 'id', 'role'];
export const NAVIGATION_TAGS = wordSet(
  'nav search footer aside menu header form div section ul ol dl table tr td th p',
);
/** The footer of one of these elements is not that of the page. */
export const PARTS_OF_PAGES = wordSet('article main section blockquote');
/** Elements whose texts are like those of links: a menu may be a list to choose from. */
export const CHOICES = wordSet('button label option');

const CERTAIN_TAGS = wordSet('nav search');
const LIKELY_TAGS = wordSet('aside menu header');
const CERTAIN_ROLES = wordSet('navigation search contentinfo menu menubar');
const CERTAIN_NAMES = wordSet(
  'nav navbar navigation navheader navfooter navlinks topnav subnav sidenav breadcrumb breadcrumbs pagination pager sphinxsidebar footer',
);
const LIKELY_NAMES = wordSet('sidebar related header banner masthead topbar toolbar');
/** The end of a name: `menu`, `mainmenu`. */
const MENU = 'menu';
/** Words of a name that say that the element has such a part, anywhere in the name or at its end. */
const BESIDE = wordSet('has with without no layout');
const CONTENT = wordSet('content main article body wrap wrapper container page post entry text');
/** Characters of a class or ID that are examined. */
const MAX_NAMES = 200;
/** The share of the characters of an element in links from which on a likely one is navigation. */
const MIN_LINKED = 0.6;

/** Characters of keywords that are kept until it is known whether an element is navigation. */
const MAX_KEYWORDS = 64 * 1024;

const known = new Map<string, NavigationKind | undefined>();
const MAX_KNOWN = 2000;

/** The words of one name of a class or an ID: `topNav` and `top-nav` have two. */
function wordsOfName(name: string): string[] {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
}

function kindOfName(name: string): NavigationKind | undefined {
  const words = wordsOfName(name);
  if (words.some((word) => BESIDE.has(word)) || CONTENT.has(words.at(-1) ?? '')) return undefined;
  if (words.some((word) => CERTAIN_NAMES.has(word))) return 'certain';
  return words.some((word) => LIKELY_NAMES.has(word) || word.endsWith(MENU)) ? 'likely' : undefined;
}

/** What a class or an ID says. Pages repeat their classes, so that the answers are kept. */
function kindOfNames(names: string | undefined): NavigationKind | undefined {
  if (names === undefined || names.length > MAX_NAMES) return undefined;
  if (known.has(names)) return known.get(names);
  const kinds = names.trim().split(/\s+/).map(kindOfName);
  const kind = kinds.find((each) => each === 'certain') ?? kinds.find((each) => each !== undefined);
  if (known.size < MAX_KNOWN) known.set(names, kind);
  return kind;
}

/** What an element of {@link NAVIGATION_TAGS} is; undefined if it is not navigation. */
function kindOf(tag: string, { class: classes, id, role }: TagAttributes): NavigationKind | undefined {
  if (CERTAIN_TAGS.has(tag) || (role !== undefined && CERTAIN_ROLES.has(role.trim().toLowerCase())))
    return 'certain';
  const byClass = kindOfNames(classes);
  if (byClass === 'certain' || tag === 'footer') return 'certain';
  return kindOfNames(id) ?? byClass ?? (LIKELY_TAGS.has(tag) ? 'likely' : undefined);
}

/** What a page has before an element: text fragments, and texts of links. */
interface NavigationStart {
  readonly fragments: number;
  readonly links: number;
}

/** An open element that is navigation or may be. */
export class NavigationElement {
  readonly depth: number;
  readonly start: NavigationStart;
  readonly isCertain: boolean;
  readonly #keywords: string[] = [];
  #keywordCharacters = 0;
  /** A paragraph in it that would describe the page. */
  paragraph = '';
  #characters = 0;
  #linked = 0;
  /** Depth of the open link; 0 if none. */
  #linkDepth = 0;

  private constructor(depth: number, start: NavigationStart, isCertain: boolean) {
    this.depth = depth;
    this.start = start;
    this.isCertain = isCertain;
  }

  /** Returns undefined for an element that is not navigation. */
  static of(
    tag: string,
    attributes: TagAttributes,
    depth: number,
    start: NavigationStart,
  ): NavigationElement | undefined {
    const kind = kindOf(tag, attributes);
    return kind && new NavigationElement(depth, start, kind === 'certain');
  }

  openLink(depth: number): void {
    if (this.#linkDepth === 0) this.#linkDepth = depth;
  }

  close(depth: number): void {
    if (depth === this.#linkDepth) this.#linkDepth = 0;
  }

  addText(characters: number): void {
    this.#characters += characters;
    if (this.#linkDepth > 0) this.#linked += characters;
  }

  /** Adds a keyword of an element that is not certain: it counts if the element is no navigation. */
  addKeyword(text: string): void {
    if (this.#keywordCharacters >= MAX_KEYWORDS) return;
    this.#keywordCharacters += text.length;
    this.#keywords.push(text);
  }

  get keywords(): readonly string[] {
    return this.#keywords;
  }

  /** Whether it is navigation, now that its text is known. */
  get isNavigation(): boolean {
    return this.isCertain || this.#linked >= MIN_LINKED * this.#characters;
  }
}

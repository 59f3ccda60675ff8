import { namesByWord, wordSet } from '../word-tables.js';

/** The properties of an element; a {@link TagTable} has one object for each name. */
export interface Tag<Plan> {
  /** Lower case. */
  readonly name: string;
  /** Sequence number of the name, from 0. */
  readonly id: number;
  /** The caller's data. */
  readonly plan: Plan | undefined;
  /** Names of the requested attributes; the others are skipped. */
  readonly attributeNames: AttributeNames | undefined;
  /** It has no content and no end tag. */
  readonly isVoid: boolean;
  /** Open elements that this one closes. */
  readonly ends: ReadonlySet<string> | undefined;
  /** Its content is text up to its own end tag. */
  readonly isRaw: boolean;
  /**
   * True: elements inside it can be self-closing; false: elements inside it cannot; undefined: as in the
   * element around it.
   */
  readonly foreign: boolean | undefined;
}

/** A set of attribute names in lower case. */
interface AttributeNames {
  has(name: string): boolean;
}

/** The caller's data for an element. */
export interface PlannedTag {
  readonly attributeNames?: AttributeNames;
}

const VOID = wordSet(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr',
);
const RAW = wordSet('script style title textarea xmp');
const FOREIGN = wordSet('math svg');
/** Elements with HTML inside foreign ones. */
const INTEGRATION = wordSet('mi mo mn ms mtext annotation-xml foreignobject desc title');

/** Omitted end tags, as in htmlparser2: by the elements that are ended, those whose start ends them. */
const ENDS = new Map(
  [
    ...namesByWord({
      p:
        'p h1 h2 h3 h4 h5 h6 address article aside blockquote details div dl fieldset figcaption figure footer form header hr ' +
        'main nav ol pre section table ul',
      'input option optgroup select button datalist textarea': 'select input output button datalist textarea',
      'tr th td': 'tr',
      th: 'th',
      'thead th td': 'td',
      'head link script': 'body',
      li: 'li',
      option: 'option',
      'optgroup option': 'optgroup',
      'dd dt': 'dd dt',
      'rt rp': 'rt rp',
      'thead tbody': 'tbody tfoot',
    }),
  ].map(([name, ended]) => [name, wordSet(ended)]),
);

/** Frequent elements that have no entry above. */
const COMMON = wordSet(
  'html head body title a b i em strong span code font center br ul ol li td th tr small big sup sub tt u s',
);

/**
 * Tags by their names as written. Those of the plan and of HTML are created once; unknown names of a page are
 * kept by its {@link TagNames}.
 */
export class TagTable<Plan extends PlannedTag> {
  readonly #tags = new Map<string, Tag<Plan>>();
  readonly #plans: ReadonlyMap<string, Plan>;
  readonly size: number;

  constructor(plans: ReadonlyMap<string, Plan>) {
    this.#plans = plans;
    let id = 0;
    for (const name of new Set([...plans.keys(), ...VOID, ...RAW, ...FOREIGN, ...ENDS.keys(), ...COMMON])) {
      const tag = this.make(name, id++);
      this.#tags.set(name, tag);
      this.#tags.set(name.toUpperCase(), tag);
    }
    this.size = id;
  }

  /** Returns the tag of a name as written; undefined if the table does not have this spelling. */
  get(written: string): Tag<Plan> | undefined {
    return this.#tags.get(written);
  }

  make(name: string, id: number): Tag<Plan> {
    const plan = this.#plans.get(name);
    return {
      name,
      id,
      plan,
      attributeNames: plan?.attributeNames,
      isVoid: VOID.has(name),
      ends: ENDS.get(name),
      isRaw: RAW.has(name),
      foreign: FOREIGN.has(name) ? true : INTEGRATION.has(name) ? false : undefined,
    };
  }
}

/** A {@link TagTable} and the unknown names of one page. */
export class TagNames<Plan extends PlannedTag> {
  readonly #table: TagTable<Plan>;
  readonly #pageTags = new Map<string, Tag<Plan>>();
  #next: number;

  constructor(table: TagTable<Plan>) {
    this.#table = table;
    this.#next = table.size;
  }

  get(written: string): Tag<Plan> {
    return this.#table.get(written) ?? this.#getOrMake(written);
  }

  #getOrMake(written: string): Tag<Plan> {
    const name = written.toLowerCase();
    let tag = this.#table.get(name) ?? this.#pageTags.get(name);
    if (tag === undefined) {
      tag = this.#table.make(name, this.#next++);
      this.#pageTags.set(name, tag);
    }
    return tag;
  }
}

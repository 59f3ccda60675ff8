/** What the reader has to know of an element; one object a name in a {@link TagTable}. */
export interface Tag<Plan> {
  /** Lower case. */
  readonly name: string;
  /** Counts the table's names from 0. */
  readonly id: number;
  /** What the user of the reader knows of it. */
  readonly plan: Plan | undefined;
  /** Names of the attributes that are wanted; the others are passed over. */
  readonly wanted: WantedAttributes | undefined;
  /** It has no content and no end. */
  readonly isVoid: boolean;
  /** Open elements that end where this one begins. */
  readonly ends: ReadonlySet<string> | undefined;
  /** Its content is text up to its own end tag. */
  readonly isRaw: boolean;
  /** True: `/>` ends elements inside of it; false: no longer. */
  readonly foreign: boolean | undefined;
}

/** A set of attribute names in lower case, or whatever can answer for one. */
export interface WantedAttributes {
  has(name: string): boolean;
}

/** What the reader's user says of an element. */
export interface PlannedTag {
  readonly wanted?: WantedAttributes;
}

const set = (names: string): ReadonlySet<string> => new Set(names.split(' '));

const VOID = set(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr',
);
const RAW = set('script style title textarea xmp');
const FOREIGN = set('math svg');
/** HTML inside of what is foreign. */
const INTEGRATION = set('mi mo mn ms mtext annotation-xml foreignobject desc title');

const P = set('p');
const FORM = set('input option optgroup select button datalist textarea');
const SECTION = set('thead tbody');
const DEFINITION = set('dd dt');
const RUBY = set('rt rp');

/** HTML lets authors leave out end tags: what the beginning of an element ends, as htmlparser2 has it. */
const ENDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...(
    'p h1 h2 h3 h4 h5 h6 address article aside blockquote details div dl fieldset figcaption figure footer form header hr ' +
    'main nav ol pre section table ul'
  )
    .split(' ')
    .map((name) => [name, P] as const),
  ...'select input output button datalist textarea'.split(' ').map((name) => [name, FORM] as const),
  ['tr', set('tr th td')],
  ['th', set('th')],
  ['td', set('thead th td')],
  ['body', set('head link script')],
  ['li', set('li')],
  ['option', set('option')],
  ['optgroup', set('optgroup option')],
  ['dd', DEFINITION],
  ['dt', DEFINITION],
  ['rt', RUBY],
  ['rp', RUBY],
  ['tbody', SECTION],
  ['tfoot', SECTION],
]);

/** Elements that pages use much beside those named above. */
const COMMON = set(
  'html head body title a b i em strong span code font center br ul ol li td th tr small big sup sub tt u s',
);

/**
 * The elements a reader meets, by their names as written. Those of the plan and of HTML are made once; a page's own inventions
 * live as long as its {@link TagNames}.
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

  /** By the name as written; undefined for one that is not of the table in this spelling. */
  get(written: string): Tag<Plan> | undefined {
    return this.#tags.get(written);
  }

  make(name: string, id: number): Tag<Plan> {
    const plan = this.#plans.get(name);
    return {
      name,
      id,
      plan,
      wanted: plan?.wanted,
      isVoid: VOID.has(name),
      ends: ENDS.get(name),
      isRaw: RAW.has(name),
      foreign: FOREIGN.has(name) ? true : INTEGRATION.has(name) ? false : undefined,
    };
  }
}

/** A {@link TagTable} and the names that only one page has. */
export class TagNames<Plan extends PlannedTag> {
  readonly #table: TagTable<Plan>;
  readonly #own = new Map<string, Tag<Plan>>();
  #next: number;

  constructor(table: TagTable<Plan>) {
    this.#table = table;
    this.#next = table.size;
  }

  get(written: string): Tag<Plan> {
    return this.#table.get(written) ?? this.#other(written);
  }

  #other(written: string): Tag<Plan> {
    const name = written.toLowerCase();
    let tag = this.#table.get(name) ?? this.#own.get(name);
    if (tag === undefined) {
      tag = this.#table.make(name, this.#next++);
      this.#own.set(name, tag);
    }
    return tag;
  }
}

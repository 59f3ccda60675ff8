import type { QueryRequest } from '../../../clients/broker/index.js';
import { MISSING_WORDS, normalize } from '../../../protocols/broker/index.js';
import { composeQuery } from './compose-query.js';
import { type Narrowing, readNarrowings, writeNarrowing } from './narrow.js';

/** Orders of a result: best first, most matched lines first, newest first. */
const SORTS = ['by-rank', 'by-NML', 'by-date'] as const;
type Sort = (typeof SORTS)[number];

/** The fields of the query form (BRK-9.1). */
export interface QueryForm {
  readonly query: string;
  /** BRK-9.2: `caseflag=on` means ignore case. */
  readonly ignoreCase: boolean;
  readonly matchWord: boolean;
  /** The flags of our own (BRK-2.20), which {@link withOwnFlags} sets for a Broker of this kit. */
  readonly contentOnly?: true | undefined;
  readonly ignoreAccents?: true | undefined;
  readonly mostWords?: true | undefined;
  /**
   * `forms`: plain words are read as a person means them (`forgiving.ts`). Old query URLs have no such field.
   */
  readonly forms: boolean;
  /** Spelling errors, 0 to 8. */
  readonly errors: number;
  readonly matchedLines: boolean;
  readonly descriptions: boolean;
  /** Also show type, dates and size of each object. */
  readonly verbose: boolean;
  readonly sort: Sort;
  /** `fold`: list only the first objects of each host. */
  readonly fold: boolean;
  /** `maxobjflag`: largest number of objects that all pages list. Default: as many as the Broker sends. */
  readonly maxObjects?: number;
  /** `maxresultflag`: largest number of matched lines. */
  readonly maxResults?: number;
  /** `maxlineflag`: largest number of matched lines of one object. */
  readonly maxLines?: number;
  /** Seconds. */
  readonly lifetime?: number;
  /** Page of the results, from 1. */
  readonly page: number;
  /** `narrow`: restrictions from the facets. */
  readonly narrow: readonly Narrowing[];
  /** `format`: a page, a feed or data. */
  readonly format: 'html' | 'rss' | 'json';
  /** `brokerqueryconfig`: formatting file; empty for the default (BRK-9.5). */
  readonly config: string;
  /** `broker`, or `host` and `port` as one: a broker of Brokers.cf; empty for this one. */
  readonly broker: string;
}

/**
 * BRK-8.6: the initial values of the form. The shipped pages listed at most 50 objects on one page; this one has
 * pages for all.
 */
export const DEFAULT_FORM: QueryForm = {
  query: '',
  ignoreCase: true,
  matchWord: true,
  forms: true,
  errors: 0,
  matchedLines: true,
  descriptions: true,
  verbose: true,
  sort: 'by-rank',
  fold: true,
  maxLines: 8,
  page: 1,
  narrow: [],
  format: 'html',
  config: '',
  broker: '',
};

/** Whether a form asks for nothing: neither a query nor restrictions. */
export function isEmptyForm({ query, narrow }: QueryForm): boolean {
  return query === '' && narrow.length === 0;
}

/** What a form asks for, in words: its query, or else its restrictions. */
export function subjectOf({ query, narrow }: QueryForm): string {
  return query === '' ? narrow.map(({ value }) => value).join(', ') : query;
}

/** Largest number in a field, and longest query in characters. */
const MAX_NUMBER = 1_000_000;
const MAX_QUERY = 8192;

/** Longest name of a file or a broker, in characters. */
const MAX_NAME = 255;

const FORMATS = ['html', 'rss', 'json'] as const;

/** The fields that are `on` or absent. */
const FLAGS = [
  ['wordflag', 'matchWord'],
  ['forms', 'forms'],
  ['opaqueflag', 'matchedLines'],
  ['descflag', 'descriptions'],
  ['verbose', 'verbose'],
  ['fold', 'fold'],
] as const;

/** The fields with a number; 0 counts as absent. */
const NUMBERS = [
  ['maxobjflag', 'maxObjects'],
  ['maxresultflag', 'maxResults'],
  ['maxlineflag', 'maxLines'],
  ['lifetime', 'lifetime'],
] as const;

type Flags = Pick<QueryForm, (typeof FLAGS)[number][1]>;

/** The fields of which every form has at least one: a URL without them was not made by a form. */
const FORM_FIELDS = [
  'caseflag',
  'errorflag',
  ...FLAGS.map(([name]) => name),
  ...NUMBERS.map(([name]) => name),
];

/** The settings of a form, which have their defaults in a URL that no form made. */
const SETTINGS = ['ignoreCase', 'errors', ...[...FLAGS, ...NUMBERS].map(([, key]) => key)] as const;

/**
 * Reads the fields. An invalid field counts as missing. In the fields of a form, a missing one has the meaning
 * of its missing flag for a Broker (BRK-3.7), as old query URLs expect: a browser sends nothing for a checkbox
 * that is not checked. A URL without any setting, such as `?query=word`, has those of {@link DEFAULT_FORM}.
 * Without a `query`, the query is composed from the fields of the advanced form. `broker`, `host` and `port`
 * only choose among the brokers of Brokers.cf: a page that queries any host would be an open relay.
 */
export function readForm(fields: URLSearchParams): QueryForm {
  const form = readFields(fields);
  if (FORM_FIELDS.some((name) => fields.has(name))) return form;
  return {
    ...DEFAULT_FORM,
    ...Object.fromEntries(
      Object.entries(form).filter(([key]) => !(SETTINGS as readonly string[]).includes(key)),
    ),
  };
}

function readFields(fields: URLSearchParams): QueryForm {
  const on = (name: string) => fields.get(name)?.toLowerCase() === 'on';
  const number = (name: string, max = MAX_NUMBER) => readNumber(fields.get(name), max);
  const numbers = NUMBERS.map(([name, key]) => [key, number(name)] as const);
  return {
    // Reduced to one line, because a line end ends the message (BRK-1.8).
    query: oneLine(fields.get('query') ?? '') || oneLine(composeQuery(fields)),
    ignoreCase: readCaseFlag(fields.getAll('caseflag')),
    ...(Object.fromEntries(FLAGS.map(([name, key]) => [key, on(name)])) as Flags),
    errors: number('errorflag', 8) ?? 0,
    sort: SORTS.find((sort) => sort === fields.get('sort')) ?? 'by-rank',
    page: Math.max(1, number('page', 10_000) ?? 1),
    narrow: readNarrowings(fields.getAll('narrow')),
    format: FORMATS.find((format) => format === fields.get('format')) ?? 'html',
    config: (fields.get('brokerqueryconfig') ?? '').slice(0, MAX_NAME),
    broker: readBroker(fields).slice(0, MAX_NAME),
    ...Object.fromEntries(numbers.filter(([, value]) => value !== undefined && value > 0)),
  };
}

/**
 * BRK-9.2, BRK-3.7: case is ignored unless the field is `off` and never `on`. The form of this page sends `off`
 * before its checkbox, because a checkbox that is not checked sends nothing.
 */
function readCaseFlag(values: readonly string[]): boolean {
  const given = values.map((value) => value.toLowerCase());
  return given.includes('on') || !given.includes('off');
}

function oneLine(text: string): string {
  const line = text
    .replace(/[^\S\ufeff]+/g, ' ')
    .trim()
    .slice(0, MAX_QUERY);
  // Characters that cannot be seen are no words.
  return normalize(line).trim() === '' ? '' : line;
}

/** BRK-9.1: `broker=NAME`, `host=HOST:PORT`, or `host` and `port` in older forms. */
function readBroker(fields: URLSearchParams): string {
  const host = fields.get('host')?.trim() ?? '';
  const port = fields.get('port')?.trim() ?? '';
  return fields.get('broker')?.trim() || (host === '' || port === '' ? host : `${host}:${port}`);
}

/**
 * Formats the form as the query part of a URL, which {@link readForm} parses. It has no settings if all of them
 * are the defaults.
 */
export function writeForm(form: QueryForm): string {
  const fields = new URLSearchParams({ query: form.query });
  if (!hasDefaultSettings(form)) {
    fields.set('caseflag', form.ignoreCase ? 'on' : 'off');
    for (const [name, key] of FLAGS) if (form[key]) fields.set(name, 'on');
    if (form.errors > 0) fields.set('errorflag', String(form.errors));
    for (const [name, key] of NUMBERS) if (form[key] !== undefined) fields.set(name, String(form[key]));
  }
  if (form.sort !== 'by-rank') fields.set('sort', form.sort);
  if (form.page > 1) fields.set('page', String(form.page));
  for (const narrowing of form.narrow) fields.append('narrow', writeNarrowing(narrowing));
  if (form.config !== '') fields.set('brokerqueryconfig', form.config);
  if (form.broker !== '') fields.set('broker', form.broker);
  if (form.format !== 'html') fields.set('format', form.format);
  return fields.toString();
}

/**
 * A form for a Broker of this kit: words mean the content of objects, and, unless they are to be taken as they are typed,
 * any accents.
 */
export function withOwnFlags(form: QueryForm): QueryForm {
  return { ...form, contentOnly: true, ignoreAccents: form.forms || undefined };
}

/**
 * Converts the form to a request to the broker, for one object more than is shown, to detect a truncated result
 * (BRK-4.16).
 *
 * @param maxObjects number of objects that is shown
 */
export function toRequest(form: QueryForm, maxObjects: number, attributes: readonly string[]): QueryRequest {
  const { ignoreCase, ignoreAccents, contentOnly, mostWords, matchWord, errors, matchedLines } = form;
  const { maxResults, maxLines, lifetime } = form;
  return {
    ...{ ignoreCase, ignoreAccents, contentOnly, mostWords, matchWord, errors, matchedLines },
    ...{ maxResults, maxLines, lifetime },
    desc: form.descriptions,
    maxFiles: maxObjects + 1,
    attributes: mostWords ? [...attributes, MISSING_WORDS] : attributes,
  };
}

function hasDefaultSettings(form: QueryForm): boolean {
  return SETTINGS.every((key) => form[key] === DEFAULT_FORM[key]);
}

function readNumber(text: string | null, max: number): number | undefined {
  if (text === null || !/^[0-9]{1,7}$/.test(text.trim())) return undefined;
  const value = Number(text);
  return value <= max ? value : undefined;
}

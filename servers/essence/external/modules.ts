// The user's modules TypeName.sum.mjs and TypeName.unnest.mjs: programs of E-61 and E-46 that are functions,
// and need no process of their own. They run where documents of untrusted formats are read, so the limits of
// time and memory are those of a reader process (E-45).
import { messageOf } from '../../../protocols/errors.js';
import { isAttributeName } from '../../../protocols/soif/index.js';
import { importFunction } from '../../../storage/files/import-function.js';
import type { SourceDocument, Summary } from '../document.js';
import type { FoundObject } from '../unnest/converters.js';

/** A document as a module gets it. */
export interface OwnDocument {
  /** Canonical URL. */
  readonly url: string;
  /** The last component of the URL's path, unescaped; empty for a directory. */
  readonly fileName: string;
  /** Media type without parameters; undefined if the access method provided none. */
  readonly contentType: string | undefined;
  /** The document as it was gathered. */
  readonly body: Uint8Array;
  /** The document as text, by its character set (E-77); decoded at the first access. */
  readonly text: string;
  /** Adds a message about the document to the Gatherer's log. */
  warn(message: string): void;
}

/** What `summarize` returns. */
export interface OwnSummary {
  /** Names and values in their order; the values of a repeated name become lines of one attribute (E-95). */
  readonly attributes: readonly (readonly [name: string, value: string])[];
  /** Text from which the `Description` is made if there is no attribute of that name (E-141). */
  readonly description?: string;
  /** References, absolute or relative to the document: the Gatherer follows them. */
  readonly linkedUrls?: readonly string[];
}

/** One of the objects that `unnest` finds in a document. */
export type OwnObject = FoundObject;

/** The exports of `TypeName.sum.mjs`. */
export interface SummarizerModule {
  summarize(document: OwnDocument): OwnSummary | Promise<OwnSummary>;
}

/** The exports of `TypeName.unnest.mjs`. */
export interface UnnesterModule {
  unnest(
    document: OwnDocument,
  ): Iterable<OwnObject> | AsyncIterable<OwnObject> | Promise<Iterable<OwnObject>>;
}

type Call = (document: OwnDocument) => unknown;

/** Whether a program of a type is a module. */
export function isModule(file: string | undefined): file is string {
  return file !== undefined && /\.[cm]?js$/.test(file);
}

/**
 * Returns a function of a module; one whose file has changed is loaded again.
 * @throws ConfigError naming the file if it cannot be loaded or does not export the function
 */
export function functionOf(file: string, name: 'summarize' | 'unnest'): Promise<Call> {
  return importFunction(file, name, { again: true });
}

/**
 * Summarizes a document by a module. If it throws, the result has a warning and no attributes (E-70);
 * attributes with illegal names are left out (E-69).
 */
export async function summarizeByModule(document: SourceDocument, file: string): Promise<Summary> {
  let made: unknown;
  try {
    made = await (await functionOf(file, 'summarize'))(viewOf(document));
  } catch (error) {
    document.warn(`${file} failed: ${messageOf(error)} (E-70)`);
    return { attributes: [] };
  }
  const given: unknown = property(made, 'attributes');
  if (!Array.isArray(given)) document.warn(`${file} returned no list "attributes" (E-70)`);
  const description: unknown = property(made, 'description');
  const linkedUrls: unknown = property(made, 'linkedUrls');
  return {
    attributes: legalPairs(given, document, file),
    ...(typeof description === 'string' ? { description } : {}),
    ...(Array.isArray(linkedUrls) ? { linkedUrls: linkedUrls.filter((url) => typeof url === 'string') } : {}),
  };
}

/** Yields the objects that a module finds in a document, until it throws, which becomes a warning (E-70). */
export async function* explodeByModule(document: SourceDocument, file: string): AsyncGenerator<FoundObject> {
  try {
    const found = await (await functionOf(file, 'unnest'))(viewOf(document));
    if (!isIterable(found)) {
      document.warn(`${file} returned no objects that can be iterated (E-70)`);
      return;
    }
    let count = 0;
    for await (const object of found) {
      count++;
      const url: unknown = property(object, 'url');
      const template: unknown = property(object, 'template');
      if (typeof url !== 'string') document.warn(`${file} returned an object without "url": it is left out`);
      else {
        const attributes = legalPairs(property(object, 'attributes'), document, file);
        yield { url, attributes, ...(typeof template === 'string' ? { template } : {}) };
      }
    }
    if (count === 0) document.warn(`${file} returned no object (E-46)`);
  } catch (error) {
    document.warn(`${file} failed: ${messageOf(error)} (E-70)`);
  }
}

/** The module keeps no reference to what Essence itself uses. */
function viewOf(document: SourceDocument): OwnDocument {
  const { url, fileName, contentType, body } = document;
  return {
    url,
    fileName,
    contentType,
    body,
    get text() {
      return document.text;
    },
    warn: (message) => document.warn(String(message)),
  };
}

function legalPairs(pairs: unknown, document: SourceDocument, file: string): [string, string][] {
  const legal: [string, string][] = [];
  for (const pair of Array.isArray(pairs) ? pairs : []) {
    const [name, value]: unknown[] = Array.isArray(pair) ? pair : [];
    if (typeof name === 'string' && isAttributeName(name) && typeof value === 'string')
      legal.push([name, value]);
    else document.warn(`${file}: ${shortOf(pair)} is not an attribute's name and its value (E-69)`);
  }
  return legal;
}

function shortOf(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 80);
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function isIterable(value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> {
  return (
    typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value)
  );
}

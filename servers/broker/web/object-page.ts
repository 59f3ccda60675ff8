// Renders the readable view of an object.
import { decodeText, hrefOfUrl, textOfUrl } from '../../../protocols/soif/index.js';
import { type Content, type Html, html, link } from '../../web/html.js';
import { byteSize, dateTime, duration } from '../../web/values.js';

/** Attributes whose value is a time (SOIF-6.1), in lower case. */
const TIMES = new Set(['update-time', 'last-modification-time', 'creation-time', 'expiry-time', 'expires']);

/** Attributes whose value is a span of seconds (SOIF-6.2). */
const SPANS = new Set(['refresh-rate', 'time-to-live']);

/** Attributes whose lines are URLs. */
const URLS = /^(?:(?:embed<\d+>-)?url-references|url|.*-url|links?)$/i;

/**
 * Limits: bytes of a value, links of a list and attributes of an object that are shown; the raw summary has
 * all.
 */
export const MAX_VALUE = 32_768;
const MAX_LINKS = 500;
export const MAX_ATTRIBUTES = 1000;

/** The part of an object that the view shows. */
export interface ShownObject {
  readonly type: string;
  /** One character a byte. */
  readonly url: string;
  /** Bytes of the object. */
  readonly bytes: number;
  /** Number of all attributes. */
  readonly size: number;
  /** The first attributes, with the beginnings of their values and the lengths of these. */
  readonly attributes: readonly {
    readonly name: string;
    readonly value: Uint8Array;
    readonly length: number;
  }[];
}

/**
 * Renders the readable view of one object, for DisplayObject (BRK-9.4).
 *
 * @param address at which the browser opens the document; default its URL
 */
export function renderObject(object: ShownObject, rawPath: string, address = hrefOfUrl(object.url)): Html {
  const { bytes } = object;
  const titled = object.attributes.findLast(({ name }) => name.toLowerCase() === 'title');
  const title = titled && decodeText(titled.value).replace(/\s+/g, ' ').trim();
  const attributes = object.attributes.slice(0, MAX_ATTRIBUTES);
  return html`<article>
<h1>${title === undefined || title === '' ? 'Content summary' : title}</h1>
<p class="url">${link(address, textOfUrl(object.url))}</p>
<p class="about"><span>${object.type} object</span> <span>${object.size} attributes</span> <span>${byteSize(bytes)}</span> <a href="${rawPath}">Raw SOIF</a></p>
<h2>Attributes</h2>
<dl class="attributes">
${attributes.map(({ name, value, length }) => html`<div><dt>${name}</dt><dd>${renderValue(name, value, length)}</dd></div>\n`)}</dl>
${object.size > MAX_ATTRIBUTES ? html`<p class="note">${object.size - MAX_ATTRIBUTES} further attributes are in the raw summary.</p>` : ''}
</article>`;
}

function renderValue(name: string, value: Uint8Array, length: number): Content {
  // A value that is cut in the middle of a character ends in a replacement character.
  const whole = length <= Math.min(value.length, MAX_VALUE);
  const text = decodeText(whole ? value : value.subarray(0, MAX_VALUE)).replace(/\n$/, '');
  const key = name.toLowerCase();
  if (TIMES.has(key)) {
    const time = dateTime(text);
    if (time !== undefined && text.trim() !== '0') {
      return html`<time datetime="${time}">${time.replace('T', ' ').replace('Z', ' UTC')}</time> <span class="raw">${text}</span>`;
    }
  }
  if (SPANS.has(key) && /^[0-9]{1,12}$/.test(text.trim())) {
    return html`${duration(Number(text))} <span class="raw">${text}</span>`;
  }
  if (URLS.test(name)) return renderLinkList(text, whole);
  return [text.includes('\n') ? html`<pre>${text}</pre>` : text, whole ? '' : renderCutNote(length)];
}

function renderLinkList(text: string, whole: boolean): Content {
  const urls = text.split('\n').map((line) => line.trim());
  const shown = urls.filter((url) => url !== '').slice(0, MAX_LINKS);
  const [only] = shown;
  if (shown.length === 1 && only !== undefined) return link(only, only);
  const more = !whole || urls.length > MAX_LINKS;
  return html`<ul class="links">${shown.map((url) => html`<li>${link(url, url)}</li>\n`)}</ul>${more ? html`<p class="note">Further lines are in the raw summary.</p>` : ''}`;
}

function renderCutNote(length: number): Html {
  return html`<p class="note">Cut here; the whole value of ${byteSize(length)} is in the raw summary.</p>`;
}

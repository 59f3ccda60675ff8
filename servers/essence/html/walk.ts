import { isEnumerable, withoutUserInfo } from '../../../protocols/urls/index.js';
import type { SourceDocument, SummarizerContext, Summary } from '../document.js';
import { LinkTexts } from '../link-texts.js';
import type { EssenceLink } from '../model.js';
import { AttributeLines } from '../sgml/lines.js';
import {
  type ContentMapping,
  conditionalMapping,
  type ExtractionTable,
  type TagMapping,
} from '../sgml/table.js';
import { isJsonLd, JsonLdScripts } from './json-ld.js';
import { LinkCollector } from './links.js';
import { mainText } from './main-text.js';
import { JSON_LD, type TagPlan, walkPlan } from './plan.js';
import { type HtmlHandler, readHtml, type TagAttributes } from './reader.js';
import type { Tag } from './tags.js';

/** Minimum length of a paragraph that describes a page, in characters. */
const MIN_DESCRIPTION = 40;

/** White space other than a single blank: an expression that also matched those would match at every word. */
const COLLAPSIBLE = /[^\S ]\s*| \s+/g;

/** Separator between the previous text and the next. */
const NOTHING = 0;
const BLANK = 1;
const NEWLINE = 2;
type Separator = typeof NOTHING | typeof BLANK | typeof NEWLINE;

/** An open element whose content is mapped. */
interface Frame {
  readonly depth: number;
  readonly mapping: ContentMapping;
  /** Index of its first text fragment. */
  readonly start: number;
}

/** The result of a walk. */
export interface HtmlSummary extends Summary {
  readonly links: readonly EssenceLink[];
  /** G-63: the page has the META robots directive `noindex`. */
  readonly noindex: boolean;
  /** G-63: the page has the META robots directive `nofollow`; its links are not in {@link links}. */
  readonly nofollow: boolean;
}

/**
 * Reads an HTML document once as a stream of tags and text (section 7). The text is one list of fragments; an
 * open mapped element stores the index of its first one. At its end the fragments from that index on are its
 * content, and unless its mapping says `parent` they are removed from the list (E-92).
 */
export function summarizeHtml(document: SourceDocument, table: ExtractionTable): HtmlSummary {
  const walk = new HtmlWalk(document, table);
  const { maxHtmlDepth } = document.settings;
  if (!readHtml(document.text, walkPlan(table), walk, maxHtmlDepth, document.isOutOfTime)) {
    document.warn(`HTML nested deeper than ${maxHtmlDepth} elements: the rest is not read`);
  }
  return walk.finish();
}

/** HTML: its attributes by the table for pages, and its main text if requested. */
export function summarizePage(document: SourceDocument, { htmlTable }: SummarizerContext): HtmlSummary {
  const summary = summarizeHtml(document, htmlTable);
  const { mainText: wantsMain, maxObjectBytes } = document.settings;
  if (!wantsMain) return summary;
  const main = ['Main-Text', mainText(document.text, maxObjectBytes)] as const;
  return { ...summary, attributes: [...summary.attributes, main] };
}

class HtmlWalk implements HtmlHandler<TagPlan> {
  #depth = 0;
  readonly #document: SourceDocument;
  readonly #bodyMapping: TagMapping | undefined;
  readonly #links: LinkCollector;
  readonly #lines: AttributeLines;
  /** Absent if the texts of links are not wanted. */
  readonly #linkTexts: LinkTexts | undefined;
  readonly #frames: Frame[] = [];
  readonly #pieces: string[] = [];
  #separator: Separator = NOTHING;
  /** Depth of the element that is skipped with its content; 0 if none. */
  #skippedDepth = 0;
  /** Depth of the drawing, and in it of the text that it shows; 0 outside of one. */
  #drawingDepth = 0;
  #shownDepth = 0;
  /** Depth of the element whose text is ignored (E-91) but whose links are followed; 0 if none. */
  #ignoredDepth = 0;
  /** Depth of the open HEAD, or of a TITLE outside one; 0 if none. */
  #headDepth = 0;
  #body = false;
  #paragraph = -1;
  #description = '';
  /** Start of the text, for the description if no paragraph is suitable. */
  #opening = '';
  /** Absent if the table has no lines for JSON-LD. */
  readonly #scripts: JsonLdScripts | undefined;
  #inJsonLd = false;

  constructor(document: SourceDocument, table: ExtractionTable) {
    this.#document = document;
    this.#bodyMapping = table.get('body');
    this.#links = new LinkCollector(document.url, document.settings.maxLinks, document.ignoreRobots);
    const { maxAttributeLength, maxAttributes, maxObjectBytes, rawReferences, linkText } = document.settings;
    if (linkText) this.#linkTexts = new LinkTexts(maxAttributeLength);
    this.#lines = new AttributeLines({
      maxAttributeLength,
      maxObjectBytes,
      maxAttributes,
      ...(rawReferences ? {} : { resolve: (reference: string) => this.#resolveWithoutLogin(reference) }),
    });
    const jsonLd = table.get(JSON_LD);
    if (jsonLd !== undefined) this.#scripts = new JsonLdScripts(jsonLd);
    const html = table.get('html')?.content;
    if (html !== undefined) this.#push(html, 0);
  }

  /** G-81: removes logins from references, also those that the page itself shows. */
  #resolveWithoutLogin(reference: string): string | undefined {
    const url = this.#links.resolve(reference);
    return url === undefined ? undefined : withoutUserInfo(url);
  }

  open({ name, plan }: Tag<TagPlan>, attributes: TagAttributes): void {
    const depth = ++this.#depth;
    if (this.#skippedDepth > 0) return;
    if (this.#drawingDepth > 0) {
      this.#openDrawn(name, depth);
      return;
    }
    if (!this.#body && plan?.head !== true) this.#openBody(name === 'body' ? attributes : {});
    if (plan === undefined) return;
    if (plan.skip) {
      this.#skippedDepth = depth;
      this.#inJsonLd = this.#scripts !== undefined && name === 'script' && isJsonLd(attributes.type);
      return;
    }
    if (plan.drawing) {
      this.#drawingDepth = depth;
      return;
    }
    if (plan.block) this.#separator = NEWLINE;
    else if (plan.cell && this.#separator === NOTHING) this.#separator = BLANK;
    if (plan.attributeNames !== undefined) this.#links.open(name, attributes);
    if (name === 'a' && attributes.href !== undefined) this.#openLink(attributes.href, depth);
    if (name === 'p') this.#paragraph = this.#pieces.length;
    else if ((name === 'head' || name === 'title') && this.#headDepth === 0) this.#headDepth = depth;
    if (plan.mapping === undefined || name === 'body') return;
    // The contents of `html` and `body` begin without their tags.
    if (name === 'html') this.#lines.addValues(plan.mapping, attributes);
    else this.#openMapped(plan.mapping, attributes, depth);
  }

  text(source: string, start: number, end: number): void {
    if (this.#isSilent) {
      if (this.#inJsonLd) this.#scripts?.add(source, start, end);
      return;
    }
    let from = start;
    while (from < end && source.charCodeAt(from) <= 0x20) from++;
    if (from === end || (isWideBlank(source.charCodeAt(from)) && source.slice(from, end).trim() === '')) {
      if (this.#separator === NOTHING) this.#separator = BLANK;
      return;
    }
    if (!this.#body && this.#headDepth === 0) this.#openBody({});
    if (isCollapsed(source, start, end)) this.#add(source, start, end);
    else {
      const text = source.slice(start, end).replace(COLLAPSIBLE, ' ');
      this.#add(text, 0, text.length);
    }
  }

  /** Text has no effect here: in skipped or ignored elements, and in drawings outside of what they show. */
  get #isSilent(): boolean {
    const isHidden = this.#drawingDepth > 0 && this.#shownDepth === 0;
    return this.#skippedDepth > 0 || this.#ignoredDepth > 0 || isHidden;
  }

  /** An element of a drawing; its title and descriptions are those of shapes. */
  #openDrawn(name: string, depth: number): void {
    if (this.#shownDepth === 0 && (name === 'text' || name === 'foreignobject')) this.#shownDepth = depth;
    if (this.#shownDepth > 0 && name !== 'tspan' && this.#separator === NOTHING) this.#separator = BLANK;
  }

  #closeDrawn(depth: number): void {
    if (depth === this.#drawingDepth) this.#drawingDepth = 0;
    if (depth !== this.#shownDepth) return;
    this.#shownDepth = 0;
    if (this.#separator === NOTHING) this.#separator = BLANK;
  }

  /** Adds text whose white space is single blanks; those at its ends become separators. */
  #add(text: string, start: number, end: number): void {
    const from = text.charCodeAt(start) === 0x20 ? start + 1 : start;
    const to = text.charCodeAt(end - 1) === 0x20 ? end - 1 : end;
    let piece: string;
    if (this.#separator === NEWLINE) piece = `\n${text.slice(from, to)}`;
    else if (this.#separator === BLANK && from === start) piece = ` ${text.slice(start, to)}`;
    else piece = text.slice(start, to);
    this.#pieces.push(piece);
    this.#separator = to < end ? BLANK : NOTHING;
  }

  close({ name, plan }: Tag<TagPlan>): void {
    const depth = this.#depth--;
    if (this.#skippedDepth > 0) {
      if (depth > this.#skippedDepth) return;
      this.#skippedDepth = 0;
      this.#inJsonLd = false;
    }
    if (this.#drawingDepth > 0) {
      this.#closeDrawn(depth);
      return;
    }
    if (depth === this.#ignoredDepth) {
      this.#ignoredDepth = 0;
      if (this.#separator === NOTHING) this.#separator = BLANK;
    }
    this.#linkTexts?.close(depth, this.#pieces);
    if (name === 'p') this.#closeParagraph();
    else if (depth === this.#headDepth) this.#headDepth = 0;
    while (this.#frames.length > 0 && this.#frames[this.#frames.length - 1]!.depth === depth && depth > 0) {
      this.#pop(this.#frames.pop()!);
    }
    if (plan === undefined) return;
    if (plan.block) this.#separator = NEWLINE;
    else if (plan.cell && this.#separator === NOTHING) this.#separator = BLANK;
  }

  finish(): HtmlSummary {
    for (let frame = this.#frames.pop(); frame !== undefined; frame = this.#frames.pop()) this.#pop(frame);
    if (this.#links.dropped > 0) {
      this.#document.warn(
        `${this.#links.dropped} links beyond the first ${this.#document.settings.maxLinks} left out (G-173)`,
      );
    }
    this.#scripts?.addTo(this.#lines, (message) => this.#document.warn(message));
    this.#document.droppedLinks = this.#links.dropped;
    this.#document.malformedLinks = this.#links.malformed;
    const linkText = this.#links.nofollow ? '' : (this.#linkTexts?.text ?? '');
    const { attributes } = this.#lines;
    return {
      attributes: linkText === '' ? attributes : [...attributes, ['Link-Text', linkText]],
      description: this.#description !== '' ? this.#description : this.#opening,
      links: this.#links.links,
      noindex: this.#links.noindex,
      nofollow: this.#links.nofollow,
    };
  }

  /** `</head>` and `<body>` can be omitted: the first tag that is not allowed in a head opens the body. */
  #openBody(attributes: TagAttributes): void {
    if (this.#headDepth > 0) {
      while (this.#frames.length > 0 && this.#frames[this.#frames.length - 1]!.depth > 0)
        this.#pop(this.#frames.pop()!);
      this.#headDepth = 0;
    }
    this.#body = true;
    this.#separator = NEWLINE;
    const mapping = this.#bodyMapping;
    // Depth 0 is closed only by the end of the document: text after `</body>` still belongs to it.
    if (mapping !== undefined) this.#openMapped(mapping, attributes, 0);
  }

  #openMapped(mapping: TagMapping, attributes: TagAttributes, depth: number): void {
    const chosen = conditionalMapping(mapping, attributes);
    const value = chosen?.ignore === true ? '' : this.#lines.addValues(mapping, attributes);
    if (value !== '') this.text(value, 0, value.length);
    const content = chosen ?? mapping.content;
    if (content === undefined || this.#ignoredDepth > 0) return;
    if (content.ignore && depth > 0) this.#ignoredDepth = depth;
    else this.#push(content, depth);
  }

  #openLink(reference: string, depth: number): void {
    if (this.#linkTexts === undefined) return;
    const url = this.#links.resolve(reference);
    if (url === undefined || url === this.#links.own || !isEnumerable(url)) return;
    this.#linkTexts.open(withoutUserInfo(url), depth, this.#pieces.length);
  }

  #push(mapping: ContentMapping, depth: number): void {
    this.#frames.push({ depth, mapping, start: this.#pieces.length });
  }

  #pop(frame: Frame): void {
    const { mapping, start } = frame;
    if (this.#pieces.length <= start) return;
    if (
      mapping.targets.some((target) => !this.#lines.isFull(target)) ||
      (frame.depth === 0 && this.#opening === '')
    ) {
      const content = stripSeparator(this.#pieces.slice(start).join(''));
      for (const target of mapping.targets) this.#lines.add(target, content);
      if (frame.depth === 0 && this.#description === '') this.#opening = content.slice(0, 1000);
    }
    if (mapping.parent) return;
    this.#pieces.length = start;
    if (this.#separator === NOTHING) this.#separator = BLANK;
  }

  #closeParagraph(): void {
    if (this.#description !== '' || this.#paragraph < 0 || this.#headDepth > 0) return;
    if (this.#paragraph < this.#pieces.length) {
      const text = stripSeparator(this.#pieces.slice(this.#paragraph).join(''));
      if (text.length >= MIN_DESCRIPTION) this.#description = text;
    }
    this.#paragraph = -1;
  }
}

/** Characters beyond Latin-1 and the no-break space may be white space, which needs the slow path. */
function isWideBlank(c: number): boolean {
  return c === 0xa0 || c > 0xff;
}

/** Whether the only white space is single blanks. Text with letters beyond Latin-1 takes the slow path. */
function isCollapsed(text: string, start: number, end: number): boolean {
  let blank = false;
  for (let i = start; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c > 0x20) {
      if (c >= 0xa0 && (c === 0xa0 || c > 0x2ff)) return false;
      blank = false;
    } else if (c === 0x20) {
      if (blank) return false;
      blank = true;
    } else if (c >= 0x09 && c <= 0x0d) return false;
    else blank = false;
  }
  return true;
}

/** Removes the separator at the start of a content. */
function stripSeparator(content: string): string {
  const first = content.charCodeAt(0);
  return first === 0x0a || first === 0x20 ? content.slice(1) : content;
}

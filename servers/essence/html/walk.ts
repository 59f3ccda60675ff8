import { isEnumerable, withoutUserInfo } from '../../../protocols/urls/index.js';
import type { SourceDocument, SummarizerContext, Summary } from '../document.js';
import { LinkTexts } from '../link-texts.js';
import type { EssenceLink } from '../model.js';
import { AttributeLines, type ExtractedAttributes } from '../sgml/lines.js';
import {
  type ContentMapping,
  conditionalMapping,
  type ExtractionTable,
  type TagMapping,
} from '../sgml/table.js';
import { isJsonLd, JsonLdScripts } from './json-ld.js';
import { LinkCollector } from './links.js';
import { mainText } from './main-text.js';
import { CHOICES, NavigationElement, PARTS_OF_PAGES } from './navigation.js';
import { JSON_LD, type TagPlan, walkPlan } from './plan.js';
import { type HtmlHandler, readHtml, type TagAttributes } from './reader.js';
import type { Tag } from './tags.js';

/** Minimum length of a paragraph that describes a page, in characters. */
const MIN_DESCRIPTION = 40;

/** The attribute with the text of navigation, and those that do not get it. */
const NAVIGATION = 'navigation';
const KEPT_BACK: ReadonlySet<string> = new Set(['keywords', 'headings']);

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
  const { maxHtmlDepth, navigation } = document.settings;
  const plan = walkPlan(table, navigation && textTargetOf(table) !== undefined);
  if (!readHtml(document.text, plan, walk, maxHtmlDepth, document.isOutOfTime)) {
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
/** The attribute with the text of a page. */
function textTargetOf(table: ExtractionTable): string | undefined {
  return (table.get('body') ?? table.get('html'))?.content?.targets[0];
}

class HtmlWalk implements HtmlHandler<TagPlan> {
  #depth = 0;
  readonly #document: SourceDocument;
  readonly #table: ExtractionTable;
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
  /** The outermost open element that is navigation or may be. */
  #navigation: NavigationElement | undefined;
  /** Depth of the outermost open part of the page (ARTICLE and the like); 0 if none. */
  #partDepth = 0;

  constructor(document: SourceDocument, table: ExtractionTable) {
    this.#document = document;
    this.#table = table;
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
    if (plan.region) this.#openRegion(name, attributes, depth);
    if (name === 'a' && attributes.href !== undefined) this.#openLink(attributes.href, depth);
    else if (CHOICES.has(name)) this.#navigation?.openLink(depth);
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
    this.#navigation?.addText(to - from);
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
    if (depth === this.#partDepth) this.#partDepth = 0;
    if (this.#navigation !== undefined) this.#closeNavigation(this.#navigation, depth);
    if (plan === undefined) return;
    if (plan.block) this.#separator = NEWLINE;
    else if (plan.cell && this.#separator === NOTHING) this.#separator = BLANK;
  }

  finish(): HtmlSummary {
    this.#endNavigation();
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
    const attributes = this.#attributes();
    return {
      attributes: linkText === '' ? attributes : [...attributes, ['Link-Text', linkText]],
      description: this.#description !== '' ? this.#description : this.#opening,
      links: this.#links.links,
      noindex: this.#links.noindex,
      nofollow: this.#links.nofollow,
    };
  }

  /** A page without other text has its navigation as its text. */
  #attributes(): ExtractedAttributes {
    const { attributes } = this.#lines;
    const target = textTargetOf(this.#table);
    if (target === undefined || attributes.some(([name]) => name === target)) return attributes;
    return attributes.map(([name, value]) => [name === NAVIGATION ? target : name, value] as const);
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
    const mapping = this.#table.get('body');
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

  /** Elements in which text is navigation, or not. */
  #openRegion(name: string, attributes: TagAttributes, depth: number): void {
    const inPart = this.#partDepth > 0;
    if (!inPart && PARTS_OF_PAGES.has(name)) this.#partDepth = depth;
    if (this.#navigation !== undefined || (inPart && name === 'footer')) return;
    const start = { fragments: this.#pieces.length, links: this.#linkTexts?.count ?? 0 };
    this.#navigation = NavigationElement.of(name, attributes, depth, start);
  }

  /** At the end of a page that was not read to its end. */
  #endNavigation(): void {
    const element = this.#navigation;
    if (element === undefined) return;
    while ((this.#frames.at(-1)?.depth ?? 0) >= element.depth) this.#pop(this.#frames.pop()!);
    this.#closeNavigation(element, element.depth);
  }

  #closeNavigation(element: NavigationElement, depth: number): void {
    element.close(depth);
    if (depth !== element.depth) return;
    this.#navigation = undefined;
    if (element.isNavigation) {
      this.#linkTexts?.cutTo(element.start.links);
      const mapping = { targets: [NAVIGATION], ignore: false, parent: false };
      this.#pop({ depth, start: element.start.fragments, mapping });
      return;
    }
    for (const keyword of element.keywords) this.#lines.add('keywords', keyword);
    if (this.#description === '') this.#description = element.paragraph;
  }

  #openLink(reference: string, depth: number): void {
    this.#navigation?.openLink(depth);
    if (this.#linkTexts === undefined) return;
    const url = this.#links.resolve(reference);
    if (url === undefined || url === this.#links.own || !isEnumerable(url)) return;
    this.#linkTexts.open(withoutUserInfo(url), depth, this.#pieces.length);
  }

  #push(mapping: ContentMapping, depth: number): void {
    this.#frames.push({ depth, mapping, start: this.#pieces.length });
  }

  #pop(frame: Frame): void {
    const { start } = frame;
    const mapping = this.#navigation === undefined ? frame.mapping : this.#keptBack(frame, this.#navigation);
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

  /** The mapping of an element in navigation, whose words are neither keywords nor headings of the page. */
  #keptBack({ mapping, start }: Frame, element: NavigationElement): ContentMapping {
    const { targets, ignore, parent } = mapping;
    // The text of another element is in the attribute alone, and it may be no navigation.
    if (!element.isCertain && !parent) return mapping;
    const others = targets.filter((target) => !KEPT_BACK.has(target.toLowerCase()));
    if (others.length === targets.length) return mapping;
    if (!element.isCertain) element.addKeyword(stripSeparator(this.#pieces.slice(start).join('')));
    return { targets: others, ignore, parent: true };
  }

  #closeParagraph(): void {
    const element = this.#navigation;
    const isKnown = this.#description !== '' || element?.isCertain === true;
    if (isKnown || this.#paragraph < 0 || this.#headDepth > 0) return;
    if (this.#paragraph < this.#pieces.length) {
      const text = stripSeparator(this.#pieces.slice(this.#paragraph).join(''));
      if (text.length >= MIN_DESCRIPTION) {
        if (element === undefined) this.#description = text;
        else element.paragraph ||= text;
      }
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

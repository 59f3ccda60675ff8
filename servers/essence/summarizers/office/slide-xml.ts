import type { MarkupAttributes } from '../../html/markup-stream.js';
import { type OfficeContent, Paragraphs } from './office-content.js';
import { linksOf, relationshipsOf } from './open-packaging.js';
import type { XmlMembers } from './xml-members.js';

/** Maximum number of slides. */
const MAX_SLIDES = 10_000;

const SKIP: ReadonlySet<string> = new Set(['mc:Fallback']);

/**
 * PPTX: the slides in the order of the presentation, each followed by its diagrams and notes; titles of slides
 * are headings; links.
 */
export async function readSlideXml(xml: XmlMembers, part: string, content: OfficeContent): Promise<void> {
  const targets = new Map((await relationshipsOf(xml, part)).map(({ id, target }) => [id, target]));
  const slides = new Set<string>();
  await xml.read(part, {
    open: (tag, attributes) => {
      const target = tag === 'p:sldId' ? targets.get(attributes['r:id'] ?? '') : undefined;
      if (target !== undefined && slides.size < MAX_SLIDES) slides.add(target);
    },
  });
  const options = { skip: SKIP, isFull: content.isFull };
  for (const slide of slides) {
    if (content.isFull()) break;
    const relationships = await relationshipsOf(xml, slide);
    await xml.read(slide, new SlideEvents(content, linksOf(relationships), true), options);
    const others = relationships
      .filter(({ type, isExternal }) => !isExternal && /^(?:diagramData|notesSlide)$/.test(type))
      .sort((a, b) => a.type.localeCompare(b.type));
    for (const { target } of others)
      await xml.read(target, new SlideEvents(content, new Map(), false), options);
    content.text('\n');
  }
}

/** Collects the text of one slide, or of its notes. */
class SlideEvents {
  readonly #content: OfficeContent;
  readonly #links: ReadonlyMap<string, string>;
  readonly #hasTitle: boolean;
  readonly #paragraphs = new Paragraphs<'text'>();
  readonly #title: string[] = [];
  #placeholder = '';
  #isText = false;

  constructor(content: OfficeContent, links: ReadonlyMap<string, string>, hasTitle: boolean) {
    this.#content = content;
    this.#links = links;
    this.#hasTitle = hasTitle;
  }

  open(tag: string, attributes: MarkupAttributes): void {
    if (tag === 'p:sp') this.#placeholder = '';
    else if (tag === 'p:ph') this.#placeholder = attributes.type ?? 'body';
    else if (tag === 'a:p') this.#paragraphs.begin('text');
    else if (tag === 'a:t' || tag === 'm:t') this.#isText = true;
    else if (tag === 'a:br') this.#paragraphs.add('\n');
    else if (tag === 'a:tab') this.#paragraphs.add('\t');
    else if (tag === 'a:hlinkClick' || tag === 'a:hlinkHover')
      this.#content.reference(this.#links.get(attributes['r:id'] ?? ''));
  }

  text(text: string): void {
    if (this.#isText) this.#paragraphs.add(text);
  }

  close(tag: string): void {
    if (tag === 'a:t' || tag === 'm:t') this.#isText = false;
    else if (tag === 'a:p') this.#endParagraph();
    else if (tag === 'p:sp') {
      if (this.#title.length > 0) {
        this.#content.heading(this.#title.join(' '));
        this.#content.shownTitle(this.#title.join(' '));
      }
      this.#title.length = 0;
      this.#placeholder = '';
    }
  }

  #endParagraph(): void {
    const text = this.#paragraphs.end()?.text ?? '';
    // Number of the slide, date, and the lines above and below each slide.
    if (/^(?:sldNum|dt|ftr|hdr)$/.test(this.#placeholder)) return;
    const isTitle = this.#hasTitle && /^(?:title|ctrTitle)$/.test(this.#placeholder);
    if (isTitle && text.trim() !== '' && this.#title.length < 100) this.#title.push(text);
    this.#content.text(`${text}\n`);
  }
}

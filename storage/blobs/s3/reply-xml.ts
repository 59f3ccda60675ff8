// The replies of S3 in XML: a listing, an upload, an error.
import { Parser } from 'htmlparser2';

/** An element: its text, or the elements in it. */
export interface XmlElement {
  readonly name: string;
  text: string;
  readonly children: XmlElement[];
}

/** More than any reply of S3 has. */
const MAX_DEPTH = 16;

/** The root element of a reply; undefined if the text has none. What is not well-formed is read as far as it goes. */
export function parseReply(text: string): XmlElement | undefined {
  const root: XmlElement = { name: '', text: '', children: [] };
  const open: XmlElement[] = [root];
  let tooDeep = 0;
  const parser = new Parser(
    {
      onopentag(name) {
        if (open.length >= MAX_DEPTH) {
          tooDeep++;
          return;
        }
        const element = { name: name.replace(/^.*:/, ''), text: '', children: [] };
        open.at(-1)!.children.push(element);
        open.push(element);
      },
      ontext(data) {
        if (tooDeep === 0) open.at(-1)!.text += data;
      },
      onclosetag() {
        if (tooDeep > 0) tooDeep--;
        else if (open.length > 1) open.pop();
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(text);
  return root.children[0];
}

/** The text of the first element of this name in another; undefined if it is absent. */
export function textIn(element: XmlElement | undefined, name: string): string | undefined {
  return element?.children.find((child) => child.name === name)?.text.trim();
}

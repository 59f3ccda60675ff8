// One object of a Broker's reply.
import { parseUnsigned } from '../soif/bytes.js';
import { decodeText, type SoifAttribute } from '../soif/index.js';

/**
 * One object of a reply, assembled from its items `120` to `130` (BRK-4.3). Its attributes are read as those of
 * a `SoifObject`: {@link get} returns bytes, {@link text} text.
 */
export class BrokerHit {
  /** `120`, one character a byte (BRK-1.10); `textOfUrl` makes it readable. */
  readonly url: string;
  /** `125`: URL of the content summary, one character a byte. */
  readonly objectUrl: string | undefined;
  /** `126`: the Broker's home page. */
  readonly homePage: string | undefined;
  /** `124` */
  readonly description: string | undefined;
  /** Texts of the `122` items as received; `parseMatchedLine` reads their usual form. */
  readonly matchedLines: readonly string[];
  /** The `127` items, in the order of the reply. */
  readonly attributes: readonly SoifAttribute[];

  constructor(fields: BrokerHitFields) {
    this.url = fields.url;
    this.objectUrl = fields.objectUrl;
    this.homePage = fields.homePage;
    this.description = fields.description;
    this.matchedLines = fields.matchedLines;
    this.attributes = fields.attributes;
  }

  /** The bytes of the last attribute of that name, compared without case (SOIF-5.2, 2.11). */
  get(name: string): Uint8Array | undefined {
    const folded = name.toLowerCase();
    return this.attributes.findLast((attribute) => attribute.name.toLowerCase() === folded)?.value;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** The value as text: UTF-8, else windows-1252 (SOIF-7.4). */
  text(name: string): string | undefined {
    const value = this.get(name);
    return value === undefined ? undefined : decodeText(value);
  }

  /** The value as an unsigned decimal number, white space around it allowed; `undefined` if it is not one. */
  number(name: string): number | undefined {
    const value = this.get(name);
    return value === undefined ? undefined : parseUnsigned(value, 0, value.length);
  }
}

/** What a {@link BrokerHit} is made of. */
export type BrokerHitFields = Pick<BrokerHit, 'url' | 'matchedLines' | 'attributes'> &
  Partial<Pick<BrokerHit, 'objectUrl' | 'homePage' | 'description'>>;

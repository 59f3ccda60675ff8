import type { BrokerConfig } from '../../protocols/config/index.js';
import { brokerPath, httpOrigin, objectPath } from './object-path.js';

/** The URLs in replies (`125`, `126`): on `HTTP-Host` and `HTTP-Port`, or on the web server beside the broker. */
export class PublishedUrls {
  readonly #config: () => BrokerConfig;
  #beside: { readonly host: string; readonly port: number } | undefined;

  constructor(config: () => BrokerConfig) {
    this.#config = config;
  }

  /** Tells where the web server beside the broker is reached. */
  setWebAddress(host: string, port: number): void {
    this.#beside = { host, port };
  }

  /** BRK-4.11: URL of the query page: `Home-Page`, or this broker's page on the web server beside it. */
  get homePage(): string {
    const { homePage, brokerName, httpHost, httpPort } = this.#config();
    // The configuration fills in the page on HTTP-Host; whatever else it says is somebody's wish.
    if (homePage !== `${httpOrigin(httpHost, httpPort)}${brokerPath(brokerName)}`) return homePage;
    return `${this.#origin}${brokerPath(brokerName)}`;
  }

  /** BRK-4.10: URL of an object's content summary. */
  objectUrl(oid: number): string {
    return `${this.#origin}${objectPath(this.#config().brokerName, oid)}`;
  }

  get #origin(): string {
    const { httpHost, httpPort } = this.#config();
    return httpOrigin(this.#beside?.host ?? httpHost, this.#beside?.port ?? httpPort);
  }
}

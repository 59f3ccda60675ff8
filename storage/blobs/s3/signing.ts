// Signs requests for S3 (AWS Signature Version 4).
import { AwsV4Signer } from 'aws4fetch';
import type { AwsLogin } from './aws-profile.js';

/** What is signed of a request. */
export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body in hexadecimal digits; undefined if it is not known. */
  readonly sha256: string | undefined;
}

export interface SignedRequest {
  readonly headers: Record<string, string>;
  /** The time in the signature, milliseconds since 1970. */
  readonly sentAt: number;
}

/** Milliseconds since 1970. A signature has a date, which the store compares with its own. */
export type WallClock = () => number;

/** Signs the requests to one region. */
export class RequestSigner {
  readonly #region: string;
  readonly #wallClock: WallClock;
  login: AwsLogin;

  constructor(login: AwsLogin, region: string, wallClock: WallClock = Date.now) {
    this.login = login;
    this.#region = region;
    this.#wallClock = wallClock;
  }

  async sign({ method, url, headers, sha256 }: UnsignedRequest): Promise<SignedRequest> {
    const sentAt = this.#wallClock();
    const { accessKeyId, secretAccessKey, sessionToken } = this.login;
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': sha256 ?? 'UNSIGNED-PAYLOAD' },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: 's3',
      region: this.#region,
      datetime: new Date(sentAt).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    });
    const signed = await signer.sign();
    return { headers: Object.fromEntries(signed.headers), sentAt };
  }
}

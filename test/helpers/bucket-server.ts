// A server of S3 in this process, with one bucket in memory, for failures that a real one shows seldom. It compares
// signatures with those of the same library; real servers are in test/peers/s3.ts.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it has arrived. */
export interface BucketServerRequest {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** What happens to a request. Nothing: it is answered. */
export type BucketServerFault =
  /** The connection is closed, before the request takes effect or after. */
  | { readonly kind: 'cut'; readonly after?: boolean }
  /** Only so many bytes of the body are sent. */
  | { readonly kind: 'cut-body'; readonly bytes: number }
  | {
      readonly kind: 'refuse';
      readonly status: number;
      readonly code: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | undefined;

interface Stored {
  readonly content: Buffer;
  readonly written: number;
}

export interface BucketServerOptions {
  readonly bucket?: string;
  /** Decides about each request that arrives. */
  readonly fault?: (request: BucketServerRequest) => BucketServerFault;
  /** Milliseconds since 1970. Default: the system's. */
  readonly wallClock?: () => number;
}

export class BucketServer implements AsyncDisposable {
  readonly requests: BucketServerRequest[] = [];
  readonly blobs = new Map<string, Stored>();
  fault: (request: BucketServerRequest) => BucketServerFault;
  readonly #server: Server;
  readonly #bucket: string;
  readonly #uploads = new Map<string, Map<number, Buffer>>();
  readonly #wallClock: () => number;

  private constructor(server: Server, options: BucketServerOptions) {
    this.#server = server;
    this.#bucket = options.bucket ?? 'bucket';
    this.fault = options.fault ?? (() => undefined);
    this.#wallClock = options.wallClock ?? Date.now;
  }

  static async start(options: BucketServerOptions = {}): Promise<BucketServer> {
    const server = createServer((request, response) => void bucket.#serve(request, response));
    const bucket = new BucketServer(server, options);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return bucket;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of message) pieces.push(piece as Buffer);
    } catch {
      // The client broke off.
      return;
    }
    const url = new URL(message.url ?? '/', this.endpoint);
    const [, bucket = '', ...segments] = url.pathname.split('/').map(decodeURIComponent);
    const request: BucketServerRequest = {
      method: message.method ?? '',
      key: segments.join('/'),
      query: url.searchParams,
      headers: message.headers,
      body: Buffer.concat(pieces),
    };
    this.requests.push(request);
    const fault = this.fault(request);
    if (fault?.kind === 'cut' && fault.after !== true) {
      message.socket.destroy();
      return;
    }
    response.setHeader('date', new Date(this.#wallClock()).toUTCString());
    if (fault?.kind === 'refuse') {
      for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value);
      refuse(response, fault.status, fault.code);
      return;
    }
    if (bucket !== this.#bucket) {
      refuse(response, 404, 'NoSuchBucket');
      return;
    }
    const sha256 = request.headers['x-amz-content-sha256'];
    if (sha256 !== 'UNSIGNED-PAYLOAD' && createHash('sha256').update(request.body).digest('hex') !== sha256) {
      refuse(response, 400, 'XAmzContentSHA256Mismatch');
      return;
    }
    if (fault?.kind === 'cut') {
      // The effect without the answer.
      this.#answer(request, { setHeader() {}, writeHead() {}, end() {} });
      message.socket.destroy();
      return;
    }
    if (fault?.kind === 'cut-body') {
      const { bytes } = fault;
      this.#answer(request, {
        setHeader: (name, value) => response.setHeader(name, value),
        writeHead: (status) => response.writeHead(status),
        end: (body) => {
          response.write(Buffer.from(body ?? '').subarray(0, bytes), () => message.socket.destroy());
        },
      });
      return;
    }
    this.#answer(request, response);
  }

  #answer({ method, key, query, headers, body }: BucketServerRequest, response: Reply): void {
    const found = this.blobs.get(key);
    const uploadId = query.get('uploadId');
    if (key === '' && method === 'GET') this.#list(query, response);
    else if (method === 'POST' && query.has('uploads')) {
      const id = `upload-${this.#uploads.size + 1}`;
      this.#uploads.set(id, new Map());
      sendXml(
        response,
        `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
    } else if (uploadId !== null) this.#upload(method, key, uploadId, query, body, response);
    else if (method === 'PUT') {
      if (headers['if-none-match'] === '*' && found !== undefined) {
        refuse(response, 412, 'PreconditionFailed');
        return;
      }
      this.#store(key, body);
      response.setHeader('etag', tagOf(body));
      response.writeHead(200);
      response.end();
    } else if (method === 'DELETE') {
      this.blobs.delete(key);
      response.writeHead(204);
      response.end();
    } else if (found === undefined) refuse(response, 404, 'NoSuchKey', method === 'HEAD');
    else send(found, method, headers, response);
  }

  #store(key: string, content: Buffer): void {
    this.blobs.set(key, { content, written: this.#wallClock() });
  }

  #upload(
    method: string,
    key: string,
    id: string,
    query: URLSearchParams,
    body: Buffer,
    response: Reply,
  ): void {
    const parts = this.#uploads.get(id);
    if (parts === undefined) {
      refuse(response, 404, 'NoSuchUpload');
      return;
    }
    if (method === 'PUT') {
      parts.set(Number(query.get('partNumber')), body);
      response.setHeader('etag', tagOf(body));
    } else {
      this.#uploads.delete(id);
      if (method === 'POST') {
        const ordered = [...parts].sort(([a], [b]) => a - b).map(([, content]) => content);
        this.#store(key, Buffer.concat(ordered));
        sendXml(response, '<CompleteMultipartUploadResult/>');
        return;
      }
    }
    response.writeHead(method === 'DELETE' ? 204 : 200);
    response.end();
  }

  #list(query: URLSearchParams, response: Reply): void {
    const prefix = query.get('prefix') ?? '';
    const after = query.get('continuation-token') ?? query.get('start-after') ?? '';
    const limit = Number(query.get('max-keys') ?? 1000);
    const keys = [...this.blobs.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const page = keys.slice(0, limit);
    const contents = page.map((key) => {
      const { content, written } = this.blobs.get(key)!;
      return `<Contents><Key>${key}</Key><LastModified>${new Date(written).toISOString()}</LastModified><Size>${content.length}</Size></Contents>`;
    });
    const isCut = keys.length > limit;
    const next = isCut ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
    sendXml(
      response,
      `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>${isCut}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
    );
  }
}

/** What is used of a response. */
interface Reply {
  setHeader(name: string, value: string): unknown;
  writeHead(status: number): unknown;
  end(body?: Buffer | string): unknown;
}

function send(
  { content, written }: Stored,
  method: string,
  headers: IncomingMessage['headers'],
  response: Reply,
): void {
  if (headers['if-match'] !== undefined && headers['if-match'] !== tagOf(content)) {
    refuse(response, 412, 'PreconditionFailed');
    return;
  }
  response.setHeader('etag', tagOf(content));
  response.setHeader('last-modified', new Date(written).toUTCString());
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
  let body = content;
  if (from !== undefined) {
    if (Number(from) >= content.length) {
      refuse(response, 416, 'InvalidRange');
      return;
    }
    const end = to === '' ? content.length : Math.min(content.length, Number(to) + 1);
    body = content.subarray(Number(from), end);
    response.setHeader('content-range', `bytes ${from}-${end - 1}/${content.length}`);
  }
  response.setHeader('content-length', String(body.length));
  response.writeHead(from === undefined ? 200 : 206);
  response.end(method === 'HEAD' ? undefined : body);
}

function refuse(response: Reply, status: number, code: string, isHead = false): void {
  response.writeHead(status);
  response.end(
    isHead ? undefined : `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`,
  );
}

function sendXml(response: Reply, text: string): void {
  response.writeHead(200);
  response.end(text);
}

function tagOf(content: Buffer): string {
  return `"${createHash('md5').update(content).digest('hex')}"`;
}

/**
 * POST requests over kept connections, and nothing else of HTTP: what a signed call needs, at a third of the processor time
 * of Node's general client.
 *
 * Owns: the connections of one address, the text of a request, reading one answer. Does not own: what is in them, or
 * whether a request is made again (`plain-calls.ts`).
 *
 * One request at a time on a connection. A connection is used again only after an answer that was read to its very end;
 * after anything else (an error, a time-out, more bytes than announced) it is closed, so that no answer meets another's
 * request.
 */

import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';

export interface WireAnswer {
  readonly statusCode: number;
  /** Status and headers, in lower case. */
  readonly head: string;
  readonly body: string;
}

const MAX_CONNECTIONS = 50;
const MAX_HEAD_BYTES = 65_536;
const HEAD_END = '\r\n\r\n';
const LINE_END = '\r\n';

/** Its time runs from the start, whether it has a connection by then or waits for one. */
interface Request {
  readonly text: string;
  readonly resolve: (answer: WireAnswer) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
  /** The one that it is sent on. */
  connection?: Connection;
}

/** All connections to one address. */
export class Wire {
  readonly #url: URL;
  readonly #trust: Pick<ConnectionOptions, 'ca'>;
  readonly #idle: Connection[] = [];
  readonly #waiting: Request[] = [];
  #open = 0;
  /** Of the last connection by TLS: the next one resumes it, which spares both sides the costly part of the handshake. */
  #session: Buffer | undefined;

  /** @param trust in whose certificates. @default those that Node trusts in */
  constructor(url: URL, trust: Pick<ConnectionOptions, 'ca'> = {}) {
    this.#url = url;
    this.#trust = trust;
  }

  /**
   * @param headers each a line; `host` and `content-length` are added
   * @throws Error with `stale` when a kept connection was closed before anything of the answer came
   */
  post(headers: string, body: string, limitMs: number): Promise<WireAnswer> {
    const length = Buffer.byteLength(body);
    const text = `POST / HTTP/1.1\r\nhost: ${this.#url.host}\r\n${headers}content-length: ${length}\r\n\r\n${body}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#timeOut(request, limitMs), limitMs);
      const request: Request = { text, resolve, reject, timer };
      const kept = this.#idle.pop();
      if (kept !== undefined) kept.begin(request);
      else if (this.#open < MAX_CONNECTIONS) this.#connect().begin(request);
      else this.#waiting.push(request);
    });
  }

  #timeOut(request: Request, limitMs: number): void {
    const error = Object.assign(new Error(`no answer within ${limitMs} ms`), { name: 'TimeoutError' });
    if (request.connection !== undefined) return request.connection.fail(error);
    this.#waiting.splice(this.#waiting.indexOf(request), 1);
    request.reject(error);
  }

  #connect(): Connection {
    this.#open += 1;
    const { protocol, hostname, port } = this.#url;
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const socket =
      protocol === 'https:'
        ? connectTls({
            ...this.#trust,
            host,
            port: Number(port === '' ? 443 : port),
            ...(isIP(host) ? {} : { servername: host }),
            ...(this.#session === undefined ? {} : { session: this.#session }),
          })
        : connectPlain({ host, port: Number(port === '' ? 80 : port) });
    // Who the other side is was looked into when the session began, and is not again: only then is it one to resume.
    socket.on('session', (session: Buffer) => {
      if ((socket as TLSSocket).authorized) this.#session = session;
    });
    return new Connection(socket, {
      free: (connection) => {
        const next = this.#waiting.shift();
        if (next === undefined) this.#idle.push(connection);
        else connection.begin(next);
      },
      gone: (connection) => {
        this.#open -= 1;
        const at = this.#idle.indexOf(connection);
        if (at >= 0) this.#idle.splice(at, 1);
        const next = this.#waiting.shift();
        if (next !== undefined) this.#connect().begin(next);
      },
    });
  }
}

interface Owner {
  readonly free: (connection: Connection) => void;
  readonly gone: (connection: Connection) => void;
}

class Connection {
  readonly #socket: Socket;
  readonly #owner: Owner;
  #request: Request | undefined;
  /** Of the answer under way. */
  #read: Buffer | undefined;
  #answers = 0;

  constructor(socket: Socket, owner: Owner) {
    this.#socket = socket;
    this.#owner = owner;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 1_000);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    // The other side says no more: an answer without a length is whole now, anything else has been broken off.
    socket.on('end', () => this.#receive(undefined));
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => {
      this.fail(new Error('the connection was closed'));
      owner.gone(this);
    });
  }

  begin(request: Request): void {
    this.#request = request;
    request.connection = this;
    this.#socket.ref();
    this.#socket.write(request.text);
  }

  #receive(chunk: Buffer | undefined): void {
    if (this.#request === undefined) return void this.#socket.destroy();
    const read =
      chunk === undefined
        ? this.#read
        : this.#read === undefined
          ? chunk
          : Buffer.concat([this.#read, chunk]);
    this.#read = read;
    try {
      const answer = read === undefined ? undefined : answerIn(read, chunk === undefined);
      if (answer !== undefined) this.#answered(answer);
      else if (chunk === undefined) this.fail(new Error('the connection was closed'));
    } catch (error) {
      this.fail(error as Error);
    }
  }

  #answered({ keep, ...answer }: WireAnswer & { readonly keep: boolean }): void {
    const request = this.#request as Request;
    clearTimeout(request.timer);
    this.#request = undefined;
    this.#read = undefined;
    this.#answers += 1;
    if (keep && this.#socket.writable) {
      // What lies idle keeps no process alive.
      this.#socket.unref();
      this.#owner.free(this);
    } else this.#socket.destroy();
    request.resolve(answer);
  }

  /** Ends the connection, and the request on it. */
  fail(error: Error): void {
    const request = this.#request;
    this.#request = undefined;
    this.#socket.destroy();
    if (request === undefined) return;
    clearTimeout(request.timer);
    const isStale = this.#answers > 0 && this.#read === undefined && error.name !== 'TimeoutError';
    request.reject(isStale ? Object.assign(error, { stale: true }) : error);
  }
}

/** The answer, once all of it is there. @throws Error when it is none */
function answerIn(read: Buffer, ended: boolean): (WireAnswer & { readonly keep: boolean }) | undefined {
  const headEnd = read.indexOf(HEAD_END);
  if (headEnd < 0) {
    if (read.length > MAX_HEAD_BYTES) throw new Error('the answer is not one of HTTP');
    return undefined;
  }
  const head = read.toString('latin1', 0, headEnd).toLowerCase();
  const statusCode = Number(/^http\/1\.[01] (\d{3})/.exec(head)?.[1] ?? Number.NaN);
  if (!(statusCode >= 200)) throw new Error('the answer is not one of HTTP');
  const from = headEnd + HEAD_END.length;
  const keep = head.startsWith('http/1.1') && !/\r\nconnection: *close/.test(head);
  if (/\r\ntransfer-encoding: *chunked/.test(head)) {
    const chunked = chunksIn(read, from);
    return chunked && { statusCode, head, body: chunked.body, keep: keep && chunked.end === read.length };
  }
  const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
  if (length === undefined)
    return ended ? { statusCode, head, body: read.toString('utf8', from), keep: false } : undefined;
  const end = from + Number(length);
  if (read.length < end) return undefined;
  return { statusCode, head, body: read.toString('utf8', from, end), keep: keep && end === read.length };
}

/** Pieces, each with its size before it; one of size 0 ends them. */
function chunksIn(read: Buffer, from: number): { readonly body: string; readonly end: number } | undefined {
  const pieces: Buffer[] = [];
  for (let at = from; ; ) {
    const lineEnd = read.indexOf(LINE_END, at);
    if (lineEnd < 0) return undefined;
    const bytes = Number.parseInt(read.toString('latin1', at, lineEnd), 16);
    if (!(bytes >= 0)) throw new Error('the answer is not one of HTTP');
    const begin = lineEnd + LINE_END.length;
    if (bytes === 0) {
      // Trailers, which nobody needs, and an empty line.
      const last = read.indexOf(HEAD_END, lineEnd);
      return last < 0 ? undefined : { body: Buffer.concat(pieces).toString(), end: last + HEAD_END.length };
    }
    if (read.length < begin + bytes + LINE_END.length) return undefined;
    pieces.push(read.subarray(begin, begin + bytes));
    at = begin + bytes + LINE_END.length;
  }
}

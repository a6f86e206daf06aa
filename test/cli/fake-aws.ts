/**
 * A fake AWS over HTTP for finding a deployment by its tags: pages of three, and refusals.
 *
 * Owns: one deployment `Shop`, and a record of the requests.
 */

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody } from '../../local/http/read-body.ts';

type Body = Record<string, unknown>;
interface Call {
  readonly service: string;
  /** `GetResources`. */
  readonly what: string;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
}

const AT = 'eu-central-1:123456789012';
const TAGGED: readonly (readonly [arn: string, part: string])[] = [
  ['arn:aws:apigateway:eu-central-1::/apis/a1/stages/$default', 'api'],
  [`arn:aws:logs:${AT}:log-group:Shop-PayLogs:*`, 'logs'],
];
const PAGE = 3;

export class FakeAws {
  readonly calls: Call[] = [];
  tagged = TAGGED;
  /** Answers by operation that are given before the usual ones. */
  readonly refusals: {
    readonly what: RegExp;
    readonly status: number;
    readonly body: Body;
    /** A text instead of the body. */
    readonly text?: string;
    times: number;
  }[] = [];
  url = '';
  readonly #server = createServer((request, response) => {
    void readBody(request, 1e6).then((bytes) => {
      const body = JSON.parse(String(bytes)) as Body;
      const what = String(request.headers['x-amz-target']).split('.')[1] ?? '';
      const [, , , service = ''] =
        /Credential=[^/]+\/(\d+)\/([^/]+)\/([^/]+)\//.exec(request.headers.authorization ?? '') ?? [];
      this.calls.push({ service, what, body, headers: request.headers });
      const refusal = this.refusals.find((each) => each.times > 0 && each.what.test(what));
      if (refusal !== undefined) refusal.times -= 1;
      response.statusCode = refusal?.status ?? 200;
      response.end(refusal?.text ?? JSON.stringify(refusal?.body ?? this.#answer(what, body)));
    });
  });

  async open(): Promise<void> {
    await new Promise<void>((listening) => this.#server.listen(0, '127.0.0.1', listening));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(what: string, body: Body): Body {
    if (what !== 'GetResources') return {};
    const [{ Values = ['Shop'] }] = body['TagFilters'] as [{ Values?: string[] }];
    if (!Values.includes('Shop')) return { ResourceTagMappingList: [], PaginationToken: '' };
    const at = Number(body['PaginationToken'] ?? 0);
    const ResourceTagMappingList = this.tagged.slice(at, at + PAGE).map(([ResourceARN, part]) => ({
      ResourceARN,
      Tags: [
        { Key: 'steadfast:stack', Value: 'Shop' },
        { Key: 'steadfast:part', Value: part },
      ],
    }));
    return {
      ResourceTagMappingList,
      PaginationToken: at + PAGE < this.tagged.length ? String(at + PAGE) : '',
    };
  }
}

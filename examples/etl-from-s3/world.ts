/**
 * The outside world of this example: a warehouse behind HTTP.
 *
 * Owns: HTTP. Does not own: the rows (`warehouse.ts`).
 *
 *   POST /warehouse/loads {label, source, version, rows} · GET /warehouse/loads[?label=]
 *   DELETE /warehouse/loads/<id> · GET /warehouse/rows
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod/mini';
import { Row } from './rows.ts';
import { type Load, Warehouse } from './warehouse.ts';

export interface World {
  readonly url: string;
  readonly warehouse: Warehouse;
  readonly stop: () => Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const NewLoad = z.object({
  label: z.string(),
  source: z.string(),
  version: z.string(),
  rows: z.array(Row),
});
const shown = ({ drops, ...load }: Load): unknown => ({ ...load, dropped: drops > 0 });

/** @param port 0 for any free one */
export async function startWorld({
  port,
  file,
}: {
  readonly port: number;
  readonly file: string;
}): Promise<World> {
  const warehouse = await Warehouse.open(file);
  const server = createServer((request, response) => void serve(warehouse, request, response));
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', listening);
  });
  const stop = (): Promise<void> =>
    new Promise((stopped) => {
      server.close(() => stopped());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, warehouse, stop };
}

async function serve(
  warehouse: Warehouse,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, body } = await answered(warehouse, request).catch(
    (error: unknown): Answer => ({
      status: error instanceof z.core.$ZodError || error instanceof SyntaxError ? 400 : 500,
      body: { error: { message: error instanceof Error ? error.message : 'unknown error' } },
    }),
  );
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function answered(warehouse: Warehouse, request: IncomingMessage): Promise<Answer> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://world');
  const [service, what, id] = pathname.split('/').filter(Boolean);
  switch (`${request.method} ${service}/${what}${id === undefined ? '' : '/…'}`) {
    case 'GET warehouse/rows':
      return { status: 200, body: { rows: warehouse.rows() } };
    case 'GET warehouse/loads': {
      const label = searchParams.get('label');
      const loads = warehouse.loads().filter((load) => label === null || load.label === label);
      return { status: 200, body: { loads: loads.map(shown) } };
    }
    case 'POST warehouse/loads': {
      const load = z.parse(NewLoad, await jsonBody(request));
      return { status: 201, body: shown(warehouse.load(load)) };
    }
    case 'DELETE warehouse/loads/…':
      return warehouse.drop(String(id)) ? { status: 200, body: {} } : refuse(404, `there is no load ${id}`);
    default:
      return refuse(404, `there is no ${request.method} ${pathname}`);
  }
}

const refuse = (status: number, message: string): Answer => ({ status, body: { error: { message } } });

async function jsonBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
}

/**
 * The `@example`s of everything that `steadfast` and its entries export, as an editor shows them. Each
 * becomes a file that declares the names it uses: the exports, and those in `SHOP`.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Files, read, ROOT } from './blocks.ts';

/** Declarations of names that examples use without declaring them. */
const SHOP: Readonly<Record<string, string>> = {
  app: "declare const app: import('aws-cdk-lib').App;",
  cloud: "declare const cloud: import('steadfast/testing').LocalCloud;",
  stack: "declare const stack: import('aws-cdk-lib').Stack;",
  handler: 'declare const handler: steadfast.AgentHandler;',
  w: 'declare const w: steadfast.WorkflowBuilder<Bought>;',
  Order: 'declare const Order: StandardSchemaV1<unknown, Bought>;',
  order: 'declare const order: steadfast.Workflow<{ readonly orderId: string }>;',
  payments:
    'declare const payments: { charge(key: string, amount: number): Promise<string>; refund(key: string): Promise<void> };',
  report: 'declare const report: steadfast.Workflow<{ readonly day: string }>;',
  bookTrip: 'declare const bookTrip: steadfast.Workflow<{ readonly city: string }>;',
  chargeCard: 'declare const chargeCard: steadfast.Agent<{ amount: number }, { paymentId: string }>;',
  chargeElsewhere:
    'declare const chargeElsewhere: steadfast.Agent<{ amount: number }, { paymentId: string }>;',
  shipParcel: 'declare const shipParcel: steadfast.Agent<{ payment: string }>;',
  sendMail: 'declare const sendMail: steadfast.Agent<{ to: string; subject?: string }>;',
  sendContract: 'declare const sendContract: steadfast.Agent<{ replyTo: string }>;',
  payOut: 'declare const payOut: steadfast.Agent<{ amount: number }>;',
  readReport: 'declare const readReport: steadfast.Agent<{ day: string }, { state: string }>;',
  applyMove:
    'declare const applyMove: steadfast.Agent<{ message: { from: string; to: string }; last: { state: string } | null }, { state: string }>;',
  makeThumbnail: 'declare const makeThumbnail: steadfast.Agent<{ key: string }>;',
};

const HEAD = `import type { StandardSchemaV1 } from '@standard-schema/spec';
import type * as steadfast from 'steadfast';
export interface Bought {
  readonly orderId: string;
  readonly amount: number;
  readonly email: string;
  readonly country: string;
  readonly plan: string;
  readonly city: string;
  readonly voucher?: string;
  readonly files: readonly { readonly key: string }[];
}
export type Schema = StandardSchemaV1;
export type Known = typeof steadfast;
`;

const ENTRIES = ['lib/index.ts', 'lib/client.ts', 'lib/cdk.ts', 'kit/test-workflow.ts'] as const;
const PACKAGES = ['steadfast', 'steadfast/client', 'steadfast/cdk', 'steadfast/testing'] as const;

/** The values that an entry exports. */
function exportsOf(path: string): string[] {
  const text = read(path);
  const lists = [...text.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, names = '']) => names.split(','));
  const own = [...text.matchAll(/^export (?:async )?(?:function|const) (\w+)/gm)].map(
    ([, name = '']) => name,
  );
  return [...lists.map((name) => name.trim().replace(/^.* as /, '')), ...own].filter((name) =>
    /^\w+$/.test(name),
  );
}

const EXPORTS = ENTRIES.map(exportsOf);

function fileOf(example: string): string {
  // A text is not a name.
  const words = new Set(example.replaceAll(/'[^'\n]*'/g, "''").match(/[A-Za-z_]\w*/g));
  const imports = EXPORTS.flatMap((names, at) => {
    const used = names.filter((name) => words.has(name));
    return used.length === 0 ? [] : [`import { ${used.join(', ')} } from '${PACKAGES[at] ?? ''}';`];
  });
  const isOwn = (name: string): boolean => new RegExp(`\\b(?:const|class|function) ${name}\\b`).test(example);
  const shop = Object.entries(SHOP).flatMap(([name, text]) =>
    words.has(name) && !isOwn(name) ? [text] : [],
  );
  const zod = words.has('z') ? ["import * as z from 'zod/mini';"] : [];
  // A single option, as in the braces of a step.
  const body = /^\w+: /.test(example) ? `export const option = {\n${example}\n};` : example;
  return [...imports, ...zod, HEAD, ...shop, body, 'export {};', ''].join('\n');
}

const examplesIn = (text: string): string[] =>
  [...text.matchAll(/\/\*\*(?:(?!\*\/)[\s\S])*?@example(?:(?!\*\/)[\s\S])*?\*\//g)].map(([comment]) => {
    const after = comment.slice(comment.indexOf('@example') + '@example'.length);
    const lines = after
      .replace(/\*\/$/, '')
      .split('\n')
      .map((line) => line.replace(/^\s*\* ?/, ''));
    const end = lines.findIndex((line) => line.startsWith('@'));
    return lines
      .slice(0, end < 0 ? undefined : end)
      .join('\n')
      .trim();
  });

const sources = ['lib', 'kit'].flatMap((room) =>
  readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${room}/${name}`.replaceAll('\\', '/')),
);

/** The examples, named by file and position. */
export const exampleFiles: Files = new Map(
  sources.flatMap((path) =>
    examplesIn(read(path)).map(
      (example, at) => [`${path.replace(/\.ts$/, '')}-${at + 1}.ts`, fileOf(example)] as const,
    ),
  ),
);

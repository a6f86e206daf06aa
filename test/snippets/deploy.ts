/** The code of docs/DEPLOY.md and docs/EVENTS.md, in an app with example workflows. */

import { type Files, read } from './blocks.ts';

/** The code blocks whose first line is a path in a comment. */
export const shownFiles: Files = new Map(
  [
    ...`${read('docs/DEPLOY.md')}\n${read('docs/EVENTS.md')}`.matchAll(
      /^```(?:ts|yaml)\n(?:\/\/|#) (\S+)\n([\s\S]*?)^```$/gm,
    ),
  ].map(([, path = '', content = '']) => [path, content]),
);

const workflowOf = (name: string): string => `import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';
const Nothing = z.object({});
export const act = agent('act', { input: Nothing, output: Nothing, effect: 'idempotent', undo: 'none' });
export const it = workflow('${name}', { input: Nothing, within: '1h' }, (w) => w.step('it', act, {}).output);
`;
const AGENT = `import { act } from '../workflow.ts';
export const handler = act.handler({ execute: () => Promise.resolve({}) });
`;
/** Code that the page only describes, and an app for the stack of its second chapter. */
const SHOP = `import { App } from 'aws-cdk-lib/core';
import type { Steadfast } from 'steadfast/cdk';
import { ShopStack } from '../lib/shop-stack.js';
import { tellPeople } from '../lib/tell-people.js';
const shop = new ShopStack(new App(), 'Shop');
const orders = shop.node.findChild('Orders') as Steadfast;
tellPeople(orders, { email: 'support@example.com', chat: 'https://chat.example/hooks/orders' });
`;

export const deployFiles: Files = new Map([
  ['package.json', JSON.stringify({ type: 'module' })],
  ['cdk.json', JSON.stringify({ app: 'npx tsx bin/app.ts' })],
  ['bin/shop.ts', SHOP],
  ...shownFiles,
  ['workflows/orders/workflow.ts', workflowOf('orders')],
  ['workflows/orders/agents/act.ts', AGENT],
  ['reports/reports/workflow.ts', workflowOf('reports')],
  ['reports/reports/agents/act.ts', AGENT],
]);

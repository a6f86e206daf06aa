/** A deployment at rest answers reads, and refuses every route that writes. */

import { CALLS, kindOf, type Route } from '../../lib/api/calls.ts';
import { routes } from '../../lib/api/routes.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { harness } from '../engine/harness.ts';
import { flow } from './app.ts';
import { expectDescribed } from './described.ts';

const h = harness(flow as Workflow, { worker: { execute: async () => ({}), undo: async () => undefined } });
const app = routes(
  h.scheduler,
  undefined,
  async () => '{}',
  async () => ({}),
  undefined,
  true,
);

it.each(Object.keys(CALLS) as Route[])('%s', async (route) => {
  const kind = kindOf(route);
  const [method = '', template = ''] = route.split(' ');
  const path = template.replaceAll(/\{\w+\}/g, 'x1');
  const answer = await app.request(path, { method, ...(method === 'GET' ? {} : { body: '{}' }) });
  const { error } = (await answer.json()) as { readonly error?: { readonly code: string } };
  expect(method === 'GET').toBe(kind === 'read');
  if (kind === 'read') return expect(error?.code).not.toBe('at-rest');
  expectDescribed(method, path, answer.status, { error });
  expect([answer.status, error?.code]).toEqual([503, 'at-rest']);
});

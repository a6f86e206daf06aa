/**
 * The deployed bundles store values that are too large for a record in S3, over HTTP, with the roles'
 * permissions.
 */

import { startCloud } from 'steadfast/testing';
import { join } from 'node:path';
import { valuesOf } from '../../lib/core/records/large-values.ts';

const WORKFLOWS = join(import.meta.dirname, '..', 'serve', 'workflows');

it('an input of 3 MB runs through two steps of functions, and is read back', async () => {
  const cloud = await startCloud({ workflows: WORKFLOWS, project: import.meta.dirname });
  try {
    const name = 'x'.repeat(3_000_000);
    const { executionId } = await cloud.client.start('hello', { input: { name } });
    expect(await cloud.client.waitForEnd(executionId)).toMatchObject({ status: 'succeeded' });
    expect((await cloud.client.get(executionId)).input).toEqual({ name });
    const buckets = (await (await fetch(`${cloud.url}/_local/buckets`)).json()) as {
      readonly name: string;
      readonly keys: readonly string[];
    }[];
    const keys = buckets.find((bucket) => bucket.name.includes('values'))?.keys ?? [];
    const holders = keys.map((key) => key.split('/')).map(([, id, , holder]) => [id, holder]);
    expect(holders).toEqual(
      expect.arrayContaining(['input', 'step.write', 'step.send'].map((holder) => [executionId, holder])),
    );
    expect(keys.every((key) => key.startsWith(valuesOf(executionId)))).toBe(true);
    const denials: unknown = await (await fetch(`${cloud.url}/_local/denials`)).json();
    expect(denials).toEqual([]);
    const body = JSON.stringify({ input: { name: 'x'.repeat(4_300_000) } });
    const refused = await fetch(`${cloud.url}/workflows/hello/executions`, { method: 'POST', body });
    expect(refused.status).toBe(413);
  } finally {
    await cloud.stop();
  }
});

/** Declared agents in processes apart from the server: they are loaded from the workflow's file. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../lib/client.ts';
import { gives, startService } from '../ready/service.ts';
import { serveProcess } from './processes.ts';

it('serves them, with a secret of the environment, and repeats under the same key', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-declared-'));
  const service = await startService((response, asked) => {
    if (service.asked.length === 1) response.destroy();
    else gives(200, '{"id":"c-1"}')(response, asked);
  });
  const args = [join(import.meta.dirname, 'declared'), '--data', join(folder, 'serve.db')];
  const server = await serveProcess(args, { SHOP_URL: service.url, SHOP_TOKEN: 't0ken' });
  try {
    const client = createClient({ url: server.url });
    const { executionId } = await client.start('buying', { input: { orderId: 'a/b' } });
    const { status, output } = await client.waitForEnd(executionId);
    expect([status, output]).toEqual(['succeeded', { chargeId: 'c-1' }]);
    const call = ['/orders/a%2Fb', 'Bearer t0ken'];
    const asked = service.asked.map(({ path, headers: { authorization } }) => [path, authorization]);
    expect(asked).toEqual([call, call]);
    expect(new Set(service.asked.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(server.lines.join('\n')).not.toContain('t0ken');
  } finally {
    await server.kill('SIGTERM');
    await service.stop();
    rmSync(folder, { recursive: true });
  }
});

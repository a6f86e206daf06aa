/** Observing a local cloud: attaching a debugger to a function, and notices of writes to tables. */
import { cloudFor } from './fixture.ts';
import { freePort } from '../../local/processes/free-port.ts';

test('a function that is inspected has one process, from the start, and no time limit; its writes are announced', async () => {
  const port = await freePort();
  let writes = 0;
  const { cloud, end } = await cloudFor({
    inspect: { logicalId: 'Web', port },
    onWritten: () => void (writes += 1),
  });
  const web = () => cloud.control.functions().find(({ logicalId }) => logicalId === 'Web');
  expect(web()?.processes).toHaveLength(1);
  // The slow answer takes longer than the template's limit of two seconds, which must not apply while a
  // debugger is attached.
  const answers = await Promise.all(
    ['/slow', '/text'].map(async (path) => await (await fetch(`${cloud.apiUrl}${path}`)).text()),
  );
  expect(answers).toEqual(['at last', 'just text']);
  expect(web()).toMatchObject({ coldStarts: 1, timeouts: 0 });
  expect(await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()).toHaveLength(1);
  await fetch(`${cloud.apiUrl}/items?pk=none`);
  expect(writes).toBe(0);
  await fetch(`${cloud.apiUrl}/order?id=one`);
  expect(writes).toBeGreaterThan(0);
  await end();
});

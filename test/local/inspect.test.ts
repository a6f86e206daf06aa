/** A function of the local cloud into which a debugger may look. */
import { cloudFor } from './fixture.ts';
import { freePort } from '../../local/processes/free-port.ts';

test('a function that is inspected has one process, from the start, and no time limit', async () => {
  const port = await freePort();
  const { cloud, end } = await cloudFor({ inspect: { logicalId: 'Web', port } });
  const web = () => cloud.control.functions().find(({ logicalId }) => logicalId === 'Web');
  expect(web()?.processes).toHaveLength(1);
  // The template allows it two seconds.
  const answers = await Promise.all(
    ['/slow', '/text'].map(async (path) => await (await fetch(`${cloud.apiUrl}${path}`)).text()),
  );
  expect(answers).toEqual(['at last', 'just text']);
  expect(web()).toMatchObject({ coldStarts: 1, timeouts: 0 });
  expect(await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()).toHaveLength(1);
  await end();
});

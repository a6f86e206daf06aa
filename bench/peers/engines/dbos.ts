/** DBOS on PostgreSQL: a workflow function whose steps are rows, in the calling process. Its defaults. */

import { DBOS } from '@dbos-inc/dbos-sdk';
import { noOp, type Payload, PAYLOAD, type Start, STEPS, timed } from '../contract.ts';
import { startPostgres } from '../postgres.ts';

const chain = DBOS.registerWorkflow(
  async (given: Payload): Promise<Payload> => {
    let data = given;
    for (let at = 0; at < STEPS; at += 1) {
      const before = data;
      data = await DBOS.runStep(() => noOp(before), { name: `s${at}` });
    }
    return data;
  },
  { name: 'chain5' },
);

export const start: Start = async (folder) => {
  const postgres = await startPostgres(folder);
  DBOS.setConfig({ name: 'chain5', systemDatabaseUrl: postgres.url, logLevel: 'error' });
  try {
    await DBOS.launch();
  } catch (error) {
    await postgres.stop();
    throw error;
  }
  return {
    server: postgres.version,
    durableBy: postgres.durableBy,
    runOne: () => timed(() => chain(PAYLOAD)),
    stop: async () => {
      await DBOS.shutdown();
      await postgres.stop();
    },
  };
};

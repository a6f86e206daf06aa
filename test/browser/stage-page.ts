/**
 * Runs the whole system on a local cloud, with the console.
 *
 * Owns: starting and stopping both. Does not own: the system (`../e2e/stage.ts`), the server
 * (`page-server.ts`).
 */

import type { ConsoleOptions } from '../../cli/console/listener.ts';
import { setStage, type Stage } from '../e2e/stage.ts';
import { behind, type PageServer, servePage } from './page-server.ts';

export interface StagePage {
  readonly stage: Stage;
  readonly server: PageServer;
  /** Changes how a service of the outside world behaves from now on. */
  readonly behave: (rule: object) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

/** @param more options of the server: the sources of log lines and metrics */
export async function stagePage(
  more: (stage: Stage) => Partial<ConsoleOptions> = () => ({}),
): Promise<StagePage> {
  const stage = await setStage({ schedules: true });
  const server = await servePage(behind(stage.cloud.apiUrl), more(stage));
  return {
    stage,
    server,
    behave: (rule) => fetch(`${stage.world.url}/behave`, { method: 'POST', body: JSON.stringify(rule) }),
    close: async () => {
      await server.close();
      await stage.strike();
    },
  };
}

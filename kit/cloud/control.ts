/**
 * A test's control over a running local cloud, including the workers of agents in containers.
 *
 * Owns: whether a name means a function or a worker, and the targets of random kills. Does not own: causing a
 * fault (`local/control/`).
 */

import type { ArmedFault, FaultMoment } from '../../local/control/fault.ts';
import type { System } from '../../cli/dev/system.ts';
import type { LocalCloud } from './local-cloud.ts';
import { killAtRandom } from './random-kills.ts';

type Hands = Omit<LocalCloud, 'url' | 'client' | 'folder' | 'environment' | 'problems' | 'stop'>;

export function controlOf(system: System): Hands {
  const { control } = system.cloud;
  const isWorker = (name: string): boolean => system.workers.includes(name);
  const kill = (name: string, when: FaultMoment = 'now'): ArmedFault => {
    if (isWorker(name) && when !== 'now')
      throw new Error(
        `agent '${name}' runs in a container, whose worker makes no calls that count for a moment: write kill('${name}'), which kills it at once`,
      );
    return isWorker(name) ? killedWorker(system, name) : control.kill(name, when);
  };
  const killSoon = (name: string, when: FaultMoment): ArmedFault => kill(name, isWorker(name) ? 'now' : when);
  const isAtWork = (name: string): boolean =>
    control
      .functions()
      .some(
        ({ logicalId, processes }) =>
          logicalId.toLowerCase().includes(name) && processes.some(({ state }) => state === 'busy'),
      );
  return {
    functions: () => control.functions(),
    kill,
    freeze: (name, when) => control.freeze(name, when),
    thaw: (name) => control.thaw(name),
    delay: (name, fault) => control.delay(name, fault),
    throttle: (name, fault) => control.throttle(name, fault),
    loseReply: (name, fault) => control.ambiguous(name, fault),
    restartStore: (downMs) => control.restartDynamo(downMs),
    killAtRandom: (options) =>
      killAtRandom(
        { agents: agentsOf(system), kill: killSoon, isAtWork, clear: () => control.clearFaults() },
        options,
      ),
    clearFaults: () => control.clearFaults(),
    calls: () => control.calls(),
    tick: (schedule) => control.tick(schedule),
    send: (queue, body) => control.send(queue, body),
    putObject: (bucket, key, body) => control.putObject(bucket, key, body),
    buckets: () => control.buckets(),
    putEvent: ({ source, detailType, detail }) =>
      control.putEvent({ source, detailType, detail: detail as never }),
    events: () => control.events(),
  };
}

/** Kills a worker at once. */
function killedWorker(system: System, agent: string): ArmedFault {
  const hit = system.killWorker(agent).then((pids) => ({
    outcome: pids.length > 0 ? ('hit' as const) : ('nothing' as const),
    at: Date.now(),
    pids,
  }));
  return { id: `worker-${agent}`, hit };
}

/** The agents that run in functions, found by the functions' paths; the others have workers. */
function agentsOf({ cloud, workers }: System): readonly string[] {
  const paths = [...cloud.resources.values()].flatMap(({ type, metadata, logicalId }) =>
    type === 'AWS::Lambda::Function' && /\/Agents\/[^/]+\/Function\//.test(String(metadata['aws:cdk:path']))
      ? [logicalId]
      : [],
  );
  return [...paths, ...workers].sort();
}

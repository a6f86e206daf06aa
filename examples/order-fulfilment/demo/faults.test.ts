import type { OrderEntry as Entry } from '../world.ts';
import type { Step } from './api.ts';
import { type Controls, Saboteur } from './faults.ts';
import { FROZEN, KILLED } from './scenarios.ts';

type State = 'busy' | 'idle' | 'frozen';
const [KILLED_ID, FROZEN_ID] = ['e-killed', 'e-frozen'];

/** A local cloud with a table of processes, which records the faults. The agents share a function. */
function fakeCloud() {
  const [charge, reserve, supervisor] = [
    new Map<number, State>(),
    new Map<number, State>(),
    new Map<number, State>(),
  ];
  const done: string[] = [];
  const refused = new Map<number, number>();
  const hitIn = (own: Map<number, State>, when: unknown, id: string) => {
    const pids = [...own].flatMap(([pid, state]) => (state === 'busy' ? [pid] : []));
    expect(['now', { holding: id }]).toContainEqual(when);
    return { hit: Promise.resolve({ outcome: pids.length > 0 ? 'hit' : 'nothing', pids }) };
  };
  const controls: Controls = {
    functions: () =>
      [
        { logicalId: 'SteadfastAgentsHostsharedFunction1', own: [...charge, ...reserve] },
        { logicalId: 'SteadfastSupervisorFunction2', own: [...supervisor] },
      ].map(({ logicalId, own }) => ({
        logicalId,
        processes: own.map(([pid, state]) => ({ pid, state })),
      })),
    kill: (name, when) => {
      done.push(`kill ${name}`);
      return hitIn(name === 'supervisor' ? supervisor : charge, when, KILLED_ID);
    },
    freeze: (name, when) => {
      done.push(`freeze ${name}`);
      return hitIn(reserve, when, FROZEN_ID);
    },
    thaw: (name) => {
      done.push(`thaw ${name}`);
      return [];
    },
    tick: async () => {
      done.push('tick');
    },
    refusedReports: (pid) => refused.get(pid) ?? 0,
  };
  return { controls, charge, reserve, supervisor, done, refused };
}

const entry = (kind: Entry['kind'], orderId: string, at: number): Entry => ({
  seq: 1,
  at,
  service: 'payment',
  kind,
  id: `${kind}-1`,
  reference: 'r',
  orderId,
});
const charged = entry('charge', KILLED.orderId, 1_000);
const reserved = entry('reservation', FROZEN.orderId, 1_000);

const takenOver: Step = {
  name: 'reserve',
  status: 'done',
  attempts: [{ number: 2, mode: 'execute', claimedAt: 0, endedAt: 1, outcome: 'done' }],
};

const see = (entries: Entry[], reserveOfFrozen?: Step) => ({
  entries,
  reserveOfFrozen,
  killedId: KILLED_ID,
  frozenId: FROZEN_ID,
});
/** Waits until the cloud has answered every request. */
const saboteurOf = ({ controls }: ReturnType<typeof fakeCloud>, now: () => number): Saboteur =>
  new Saboteur(controls, () => {}, now);
const answered = async (): Promise<void> => await new Promise(setImmediate);

test('the agent of the order is killed once its work is in the ledger', async () => {
  const cloud = fakeCloud();
  const saboteur = saboteurOf(cloud, () => 1_500);
  saboteur.act(see([]));
  saboteur.act(see([entry('charge', 'another-order', 1_000)]));
  expect(cloud.done).toEqual([]);
  // No process serves the message at this moment.
  saboteur.act(see([charged]));
  saboteur.act(see([charged]));
  await answered();
  expect([cloud.done, saboteur.kill]).toEqual([['kill charge-card'], undefined]);
  cloud.charge.set(11, 'busy');
  saboteur.act(see([charged]));
  await answered();
  saboteur.act(see([charged]));
  expect(cloud.done).toEqual(['kill charge-card', 'kill charge-card']);
  expect(saboteur.kill).toEqual({ at: 1_500 });
});

test('an agent whose answer may be under way already is not hit: the demo then fails, and says why', () => {
  const cloud = fakeCloud();
  const saboteur = saboteurOf(cloud, () => 8_500);
  cloud.charge.set(11, 'busy');
  cloud.reserve.set(21, 'busy');
  saboteur.act(see([charged, reserved]));
  expect(cloud.done).toEqual([]);
  expect(saboteur.isDone).toBe(true);
});

test('the supervisor is killed after the agents, while it is at work, and the next one is stage', async () => {
  const cloud = fakeCloud();
  let now = 1_500;
  const saboteur = saboteurOf(cloud, () => now);
  cloud.charge.set(11, 'busy');
  cloud.supervisor.set(31, 'busy');
  saboteur.act(see([charged]));
  await answered();
  saboteur.act(see([charged]));
  expect(cloud.done).toEqual(['kill charge-card']);
  cloud.reserve.set(21, 'busy');
  saboteur.act(see([charged, reserved]));
  await answered();
  saboteur.act(see([charged, reserved]));
  saboteur.act(see([charged, reserved]));
  await answered();
  const done = ['kill charge-card', 'freeze reserve-stock', 'kill supervisor'];
  now += 2_999;
  saboteur.act(see([charged, reserved]));
  expect(cloud.done).toEqual(done);
  now += 1;
  saboteur.act(see([charged, reserved]));
  saboteur.act(see([charged, reserved]));
  expect(cloud.done).toEqual([...done, 'tick']);
  expect(saboteur.supervisorKill).toEqual({ at: 1_500 });
});

test.each([1, 0])(
  'the frozen agent thaws after it was taken over, and its own report must be refused: %i times',
  async (refused) => {
    const cloud = fakeCloud();
    let now = 1_500;
    const saboteur = saboteurOf(cloud, () => now);
    cloud.reserve.set(21, 'busy');
    saboteur.act(see([reserved]));
    await answered();
    cloud.reserve.set(21, 'frozen');
    saboteur.act(see([reserved], { ...takenOver, attempts: [] }));
    expect(cloud.done).toEqual(['freeze reserve-stock']);
    expect(saboteur.isDone).toBe(false);
    now = 9_000;
    saboteur.act(see([reserved], takenOver));
    cloud.reserve.set(21, 'busy');
    saboteur.act(see([reserved], takenOver));
    expect(saboteur.freeze).toBeUndefined();
    cloud.reserve.set(21, 'idle');
    // Another process of the function that the agents share: what it may not write proves nothing here.
    cloud.refused.set(11, 3);
    saboteur.act(see([reserved], takenOver));
    now += 1_999;
    saboteur.act(see([reserved], takenOver));
    // Its last lines may come after its answer.
    expect(saboteur.freeze).toBeUndefined();
    cloud.refused.set(21, refused);
    now += 1;
    saboteur.act(see([reserved], takenOver));
    expect(cloud.done).toEqual(['freeze reserve-stock', 'thaw reserve-stock']);
    expect(saboteur.freeze).toEqual({ at: 1_500, thawedAt: 9_000, refused });
    expect(saboteur.isDone).toBe(true);
  },
);

/**
 * Rolling deployment: a release for a fleet, batch after batch; on each host drain, install, check, back to
 * work. A batch then takes requests for a while, and a check reads how many of them failed. If too many fail,
 * or too many hosts are sick, the fleet goes back to the former release, the last batch first.
 *
 * Owns: the three workflows. Does not own: the agents' contracts (`contracts.ts`), how an agent does its work
 * (`agents/`), the services it talks to (`world.ts`).
 */

import { exists, required, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { checkHost, installRelease, readErrors, Release, shiftTraffic, Text } from './contracts.ts';

const PATIENCE = retry(10, { delay: '500ms', maxDelay: '5s' });
const UNDO = retry(20, { delay: '500ms', maxDelay: '5s' });

/**
 * How long a batch takes requests before its check. In production, minutes: as long as a bad release needs to
 * show.
 */
export const SOAK = '2s';
/** The share of a batch's requests that may fail. */
export const MOST_ERRORS = 0.01;
/** How many hosts of one batch may be out of work at the same time. */
export const OUT_OF_WORK = 5;

/** Deploys one host. Exported, so that a sick host can get the release by itself once it is well. */
export const deployHost = workflow('deploy-host', { input: Release, within: '1h' }, (w) => {
  const { host, version } = w.input;
  const patient = { recovery: [PATIENCE], retryUndo: UNDO };
  const drain = w.step('drain', shiftTraffic, { host, to: 'out' }, patient);
  const install = w.step('install', installRelease, { host, version }, { ...patient, after: [drain] });
  const check = w.step('check', checkHost, { host, version }, { recovery: [PATIENCE], after: [install] });
  w.step('enrol', shiftTraffic, { host, to: 'in' }, { ...patient, after: [check] });
  return { install: install.output.install };
});

/**
 * A longer list is split into parts, which are undone in parallel: more hosts than `OUT_OF_WORK` would be out
 * of work.
 */
const Hosts = z.array(Text).check(z.minLength(1), z.maxLength(25));

/** One batch with its check: a tenth of its hosts may be sick, and a hundredth of its requests may fail. */
const deployBatch = workflow(
  'deploy-batch',
  { input: z.object({ version: Text, hosts: Hosts }), within: '4h' },
  (w) => {
    const { version, hosts } = w.input;
    const deployed = w.map('hosts', deployHost, hosts, (host) => ({ host, version }), {
      concurrency: OUT_OF_WORK,
      mayFail: '10%',
    });
    const soak = w.wait('soak', { for: SOAK, after: [deployed] });
    const question = { version, hosts, limit: MOST_ERRORS };
    w.step('gate', readErrors, question, { recovery: [PATIENCE], after: [soak] });
  },
);

const MOST_BATCHES = 10;
const Batches = z.array(Hosts).check(z.minLength(1), z.maxLength(MOST_BATCHES));
const Fleet = z.object({ version: Text, batches: Batches });
export type Fleet = z.infer<typeof Fleet>;

/**
 * Steps, not a list: each begins after the one before and is undone before it, and a pause stops before the
 * next one.
 */
export const rollingDeployment = workflow('rolling-deployment', { input: Fleet, within: '2d' }, (w) => {
  const { version, batches } = w.input;
  const before: { readonly name: string }[] = [];
  for (let at = 0; at < MOST_BATCHES; at += 1) {
    const hosts = required(batches[at]);
    const after = before.slice(-1);
    before.push(w.child(`batch-${at + 1}`, deployBatch, { version, hosts }, { after, when: exists(hosts) }));
  }
  return { version };
});

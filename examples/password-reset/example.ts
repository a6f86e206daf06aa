/** The ways in which a password reset fails, and the checks afterwards. */

import { auditDeeds } from '../gallery/audit.ts';
import type { Example, Scene, Stage } from '../gallery/example.ts';
import { DEEDS } from './world.ts';

const start = async ({ client }: Stage, account: string): Promise<string> =>
  (await client.start('password-reset', { input: { account }, idempotencyKey: account })).executionId;

const scenes: readonly Scene[] = [
  {
    name: 'killed',
    wrong: 'The agent that issues tokens is killed when it has taken the step',
    ends: ['succeeded'],
    play: (stage, account) => {
      stage.cloud.kill('issue-token', { afterCall: 1, operation: 'PutItem' });
      return start(stage, account);
    },
    tell: () => 'Its lease ran out, and another attempt asked under the same key: there is one token.',
  },
  {
    name: 'lost-reply',
    wrong: 'The mail service sends, and its answer is lost',
    ends: ['succeeded'],
    play: async (stage, account) => {
      await stage.world.behave({ service: 'mail', mode: 'drop-reply', times: 1, match: { about: account } });
      return start(stage, account);
    },
    tell: () => 'It was asked again under the same key, and answered from memory: there is one mail.',
  },
  {
    name: 'no-mailbox',
    wrong: 'The mail service declines for good',
    ends: ['compensated'],
    play: async (stage, account) => {
      await stage.world.behave({ service: 'mail', mode: 'decline', match: { about: account } });
      return start(stage, account);
    },
    tell: () => 'The token that nobody was told of is revoked.',
  },
];

export default {
  title: 'Password reset: issue a token, mail its link; here to show when not to use Steadfast.',
  world: 'RESET_WORLD_URL',
  scenes,
  audit: async ({ stage, played }) =>
    auditDeeds(DEEDS, await stage.world.ledger(), played, ({ end }) =>
      end.status === 'succeeded' ? { token: 1, mail: 1 } : {},
    ),
} satisfies Example;

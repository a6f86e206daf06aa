/** Bugs of agents whose work is declared: one for each sentence of what their requests promise. */

import { jest, type Killer, type Mutant } from '../mutant.ts';

const SEND = 'lib/ready/send.ts';
const WORK = 'lib/ready/work.ts';
const OUTCOMES = 'lib/ready/outcomes.ts';
const outcomes = (test: string): Killer => jest('ready/outcomes', test);
const requests = (test: string): Killer => jest('ready/requests', test);

export const READY: readonly Mutant[] = [
  {
    id: 'sent-taken-for-unsent',
    rule: 'Nothing was sent only where there was no connection.',
    bug: 'A request whose connection breaks before the answer counts as not sent, and is sent again.',
    file: SEND,
    find: "kind: isConnected ? 'no-answer' : 'not-sent'",
    replace: "kind: 'not-sent'",
    killer: outcomes('no answer, closed'),
  },
  {
    id: 'proxy-taken-at-its-word',
    rule: 'A bare 503 says nothing of the work.',
    bug: 'Every 503 counts as turned away, also that of a proxy behind which the request went through.',
    file: OUTCOMES,
    find: "(status === 503 && result.kind === 'answered' && result.headers['retry-after'] !== undefined)",
    replace: 'status === 503',
    killer: outcomes('503'),
  },
  {
    id: 'conflict-taken-for-refusal',
    rule: 'A conflict may be with an earlier request of the same step.',
    bug: 'A 409 to a repeated request counts as a refusal, although the first one is at work.',
    file: OUTCOMES,
    find: '(status === 409 || status === 412) &&',
    replace: 'status === 412 &&',
    killer: outcomes('of effect'),
  },
  {
    id: 'half-a-body-judged',
    rule: 'A rule about the body holds only for a whole body.',
    bug: 'Rules about the body are passed over where it was cut, and the status alone counts.',
    file: WORK,
    find: 'const isJudged = lacks === undefined || !readsBody(rules);',
    replace: 'const isJudged = true;',
    killer: outcomes('counts only if what it reads of the body is there'),
  },
  {
    id: 'cut-body-is-whole',
    rule: 'A body that was cut is no answer.',
    bug: 'What has come of a body before its connection broke counts as the whole of it.',
    file: WORK,
    find: "if (typeof body === 'string') return { lacks: body };",
    replace: "if (typeof body === 'string') return { json: {} };",
    killer: outcomes('a body that is cut'),
  },
  {
    id: 'one-public-address',
    rule: 'A name of which one address is private is refused.',
    bug: 'A name passes that has a public address beside a private one.',
    file: SEND,
    find: "reach === 'public' ? addresses.length < all.length",
    replace: "reach === 'public' ? addresses.length === 0",
    killer: requests('is refused where a name has a private one beside a public one'),
  },
  {
    id: 'name-asked-again',
    rule: 'The connection goes to an address that was checked.',
    bug: 'The connection asks for the name itself, which may lead elsewhere by then.',
    file: SEND,
    find: '      lookup: pinned(addresses),\n',
    replace: '      ...(addresses.length === 0 ? { lookup: pinned(addresses) } : {}),\n',
    killer: requests('is the one that was checked: the name is asked for once'),
  },
  {
    id: 'mapped-address',
    rule: 'A private address is refused in each way of writing it.',
    bug: 'An address of version 4 passes when it is written as one of version 6.',
    file: 'lib/ready/addresses.ts',
    find: 'return GLOBAL_6.check(',
    replace: "return (address.startsWith('::ffff:') || GLOBAL_6.check(",
    also: [
      {
        file: 'lib/ready/addresses.ts',
        find: "'ipv6') && !PRIVATE_6.check(",
        replace: "'ipv6')) && !PRIVATE_6.check(",
      },
    ],
    killer: jest('ready/addresses', 'is private'),
  },
  {
    id: 'redirect-to-any-host',
    rule: 'A redirect is followed to the same origin alone.',
    bug: 'A redirect is followed to any host, with the secret.',
    file: SEND,
    find: "to.origin === url.origin && to.username === ''",
    replace: "to.username === ''",
    killer: requests('another host'),
  },
  {
    id: 'path-from-input',
    rule: 'A value of the input is one segment of the path.',
    bug: 'A value of the input is put into the path as it is, and leads to another place.',
    file: 'lib/ready/request.ts',
    find: 'return encodeURIComponent(text.toWellFormed());',
    replace: 'return text.toWellFormed();',
    killer: requests('is one segment of the path'),
  },
  {
    id: 'date-by-own-clock',
    rule: 'A date in Retry-After counts by the clock of the service.',
    bug: 'A date in Retry-After is compared with the own clock, which may differ by hours.',
    file: 'lib/remote/retry-after.ts',
    find: 'Number.isFinite(now) ? now : Date.now()',
    replace: 'Date.now()',
    killer: outcomes('counts as a date by the clock of the service'),
  },
  {
    id: 'secret-over-http',
    rule: 'A secret goes over http to this machine alone.',
    bug: 'A secret is sent unencrypted.',
    file: 'lib/remote/target.ts',
    find: "if (hasSecret && url.protocol === 'http:' && !isHere(url))",
    replace: "if (hasSecret && url.protocol === 'ftp:' && !isHere(url))",
    killer: requests('for a secret over http'),
  },
];

/** Declaring a remote agent: accepted targets, and refusals that name the allowed values. */

import { remoteAgent, type RemoteTarget } from '../../lib/index.ts';
import { declared } from './performed.ts';

const container = { runsIn: 'container' } as const;
const URL_ = 'https://parcels.example/agent';

it.each<[string, object, object, RegExp]>([
  ['nothing', {}, {}, /book-parcel.*no target; allowed: one of/],
  ['two targets', { url: URL_, lambda: true }, {}, /lambda and url; allowed: one of/],
  ['a command in a function', { command: ['python3'] }, {}, /in a container alone: .*runsIn: 'container'/],
  ['an empty command', { command: [] }, container, /a list of texts such as/],
  ['a command that is a text', { command: 'python3 main.py' }, container, /a list of texts such as/],
  ['a folder of nothing', { command: ['a'], folder: '' }, container, /import\.meta\.dirname/],
  ['a secret of a command', { command: ['a'], secret: {} }, container, /secret does not go with command/],
  ['the name of a function', { lambda: 'parcels' }, {}, /write lambda: true.*remoteFunction/],
  ['progress of a function', { lambda: true }, { progressWithin: '5s' }, /can report no progress/],
  ['no address', { url: 'parcels' }, {}, /is not an address; allowed: one such as https/],
  ['another protocol', { url: 'file:///etc/passwd' }, {}, /is not an address/],
  ['a password in the address', { url: 'https://me:pw@parcels.example' }, {}, /holds a user or a password/],
  [
    'a secret in the open',
    { url: 'http://parcels.example', secret: { header: 'x-key', env: 'K' } },
    {},
    /over http/,
  ],
  ['a signature in the open', { url: 'http://parcels.example', sign: 'lambda' }, {}, /over http/],
  ['a secret itself', { url: URL_, secret: { header: 'x-key', env: 'not a name' } }, {}, /\{ header, env \}/],
  ['a header of two lines', { url: URL_, secret: { header: 'x\r\ny', env: 'K' } }, {}, /\{ header, env \}/],
  ['a signature for another service', { url: URL_, sign: 's3' }, {}, /'lambda' and 'execute-api'/],
  [
    'a signature and a secret in one header',
    { url: URL_, sign: 'lambda', secret: { header: 'Authorization', env: 'K' } },
    {},
    /itself the authorization header/,
  ],
])('%s is refused', (_, target, options, message) => {
  const declare = (): unknown => remoteAgent(declared(options), target as RemoteTarget);
  expect(declare).toThrow(message);
  expect(declare).toThrow(expect.objectContaining({ code: 'bad-agent' }));
});

it('a refused address is not repeated: it may hold a password', () => {
  const target = { url: 'https://me:hunter2@parcels.example' };
  expect(() => remoteAgent(declared(), target)).toThrow(expect.not.stringContaining('hunter2') as never);
});

it.each<[string, RemoteTarget, object, string]>([
  ['a command in a container', { command: ['python3', 'main.py'] }, container, 'command'],
  ['an address', { url: URL_, secret: { header: 'x-key', env: 'K' } }, {}, 'url'],
  ['an address in the environment', { url: { env: 'PARCELS' }, sign: 'execute-api' }, {}, 'url'],
  ['a secret for this machine', { url: 'http://127.0.0.1:9/', secret: { header: 'x', env: 'K' } }, {}, 'url'],
  ['an address in the open without a secret', { url: 'http://parcels.internal/' }, {}, 'url'],
  ['a function', { lambda: true }, {}, 'lambda'],
])('%s is taken, and says what it is', (_, target, options, kind) => {
  expect(remoteAgent(declared(options), target).remote).toBe(kind);
});

it.each<[string, object, string[]]>([
  ['probed', { effect: 'probed' }, ['execute', 'probe', 'undo']],
  ['idempotent', { effect: 'idempotent' }, ['execute', 'undo']],
  ['idempotent and asked', { effect: 'idempotent', probe: 'required' }, ['execute', 'probe', 'undo']],
  ['without an undo', { effect: 'probed', undo: 'none' }, ['execute', 'probe']],
  ['without an effect', { effect: 'none' }, ['execute']],
])('an agent that is %s has the calls that it declares', (_, options, calls) => {
  const { worker } = remoteAgent(declared(options), { url: URL_ });
  expect(Object.keys(worker.implementation)).toEqual(calls);
});

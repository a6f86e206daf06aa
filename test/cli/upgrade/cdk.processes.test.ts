/** Each step of an upgrade is an assembly; the CDK's own command takes the first. */

import { expectTaken } from './taken-by-cdk.ts';

it('is an assembly at each step, and taken by cdk', () => expectTaken('first'));

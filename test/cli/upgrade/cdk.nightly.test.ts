/** The CDK's own command takes each step of an upgrade. */

import { expectTaken } from './taken-by-cdk.ts';

it('is taken by cdk, an index at a time', () => expectTaken('all'));

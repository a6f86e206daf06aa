/**
 * The outside world for `npm start`. Owns: that it is there before the agents ask for it. Does not own: how
 * it can be made to misbehave (see README.md).
 */

import { type DevContext, startDevWorld } from '../world/process.ts';
import { PLACE } from './world.ts';

export default (context: DevContext) => startDevWorld(context, 'WORLD_URL', PLACE);

/**
 * Starts the outside world for `npm start`, before the agents call it. Does not own: how to make it misbehave
 * (see README.md).
 */

import { type DevContext, startDevWorld } from '../world/process.ts';
import { PLACE } from './world.ts';

export default (context: DevContext) => startDevWorld(context, 'WORLD_URL', PLACE);

package aws

import "time"

// Every time and bound of the reads, with its reason.
const (
	// readBudget is how long a run waits for AWS in all. Crossplane runs the pipeline of many XRs with few workers, so
	// a run that waits holds up others; the last known state is as good an answer a moment later.
	readBudget = 5 * time.Second

	// gatherTime is how long a batch waits for more pools. It is far below the time that a call takes, so nobody
	// notices it, and long enough for the runs that one change of a shared object sets off.
	gatherTime = 20 * time.Millisecond

	// batchDeadline ends a batch before those who wait for it give up, so that they are told why it failed and not
	// merely that it is late.
	batchDeadline = readBudget - gatherTime - 280*time.Millisecond

	// maxAttempts and maxBackoff bound the SDK's retries: two pauses of at most half a second leave time for three calls
	// within batchDeadline. The SDK's own pause after throttling is up to a second, then two.
	maxAttempts = 3
	maxBackoff  = 500 * time.Millisecond

	// minCallTime is how long before its batch ends a call is begun at the latest. Most calls take 50 to 300 ms. One that is begun
	// later seldom ends in time, and still costs the account's rate. Nor does the SDK pause for another attempt
	// where so much would not be left after the longest pause.
	minCallTime = 250 * time.Millisecond

	// dialTimeout and headerTimeout let a dead connection fail while there is time to try again. DescribeInstances
	// takes about a second for packedInstances.
	dialTimeout   = time.Second
	headerTimeout = 3 * time.Second

	// requestTimeout ends each request, its body included. Reads end with their batch anyway; signing in does not. The
	// SDK's cache of credentials lets one caller fetch them for all, without any deadline. A response which stalls in its
	// body would leave the identity waiting for it for good.
	requestTimeout = batchDeadline

	// refusalTime is how long one refusal, of throttling, permission or credentials, answers for all pools of a view. It is
	// a third of the default refresh.changingSeconds, so a pool hardly notices. A thousand refused pools make a call in
	// five seconds and not seventy a second, which would hold the account's bucket empty: EC2 refills it with 20 a second,
	// for everybody in the account.
	refusalTime = 5 * time.Second

	// maxAge is the oldest answer that is given, whatever the caller accepts: the default of refresh.stableSeconds. A
	// longer refresh asks seldom enough not to need a cache.
	maxAge = time.Minute

	// rememberTime is how long a pool that nobody asked for is still read along with others: two stable refreshes.
	rememberTime = 2 * time.Minute

	// earlierAge is how old instances may be that stand in for a reading that fails. They make up for a status from before
	// them, and Crossplane's cache is behind by seconds. Older ones would bring back members that are long gone, where
	// another replica of the function can read.
	earlierAge = 2 * time.Minute

	// idleTime is how long unused clients stay. A rotated credential leaves its clients behind; they go, with the
	// credentials they hold, soon after.
	idleTime = 10 * time.Minute

	// sweepTime is how often what is idle or forgotten is looked for.
	sweepTime = 30 * time.Second

	// maxViews bounds the identities and regions that are held at a time. A view is a few hundred kB of SDK clients.
	maxViews = 144

	// maxNewViews of them are for those that AWS has not answered well yet, such as regions that a tenant made up. One that
	// it has never makes room for one that it has not.
	maxNewViews = 16

	// maxHeld bounds what all caches hold of members, in answers and members. A member takes about heldBytes, so this is
	// 88 MB at worst, for 20,000 pools of 10. Less than that is kept for one tenant (batch.Budget).
	maxHeld   = 220_000
	heldBytes = 400

	// maxHeldImages bounds what they hold of images, which have a budget of their own as a tenant can look for any number
	// of names. A fleet has dozens. Each takes a kB, with what was asked for.
	maxHeldImages = 4_000

	// maxCalls is how many calls a view makes at a time for members. EC2 lets an account make 20 reads a second in a region,
	// with bursts of 100, and others in that account have work to do as well.
	maxCalls = 8

	// maxRefreshCalls is how many of them are for refreshes, beside those for members. A roll of a whole fleet asks for each
	// pool, since there is no call for several, and must not hold up what says who is a member. Four of 100 ms make 40 a
	// second, of Auto Scaling and not of EC2. One is for other tenants than that which has the rest.
	maxRefreshCalls       = 4
	maxTenantRefreshCalls = maxRefreshCalls - 1

	// maxClaimCalls is how many are for whose a group is. Only pools without a group ask, and a tenant can make any number of
	// those: they must not hold up who is a member. A call tells of a hundred names, of one tenant. One is for other tenants than
	// that which has the other.
	maxClaimCalls       = 2
	maxTenantClaimCalls = maxClaimCalls - 1

	// maxImageCalls is how many are for images. Few are needed, since the pools of a fleet look for the same ones, and an
	// answer is kept. But a tenant chooses what is looked for, and a broad name among all images of Amazon's takes
	// seconds: two at a time are enough for one tenant, and the third is for the others.
	maxImageCalls       = 3
	maxTenantImageCalls = maxImageCalls - 1

	// maxWaiting is how many calls of one kind (images, refreshes, whose a group is) one tenant may have waiting in a view, beside
	// those that are made. A run waits for each, and so does a worker of Crossplane's, of which it has 100 by default: half
	// of them are left to others. Two calls at a time that take 200 ms are as many within batchDeadline.
	maxWaiting = 48
)

// Bounds that AWS sets.
const (
	// groupsPerCall is how many names DescribeAutoScalingGroups takes, with MaxRecords as high.
	// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_DescribeAutoScalingGroups.html
	groupsPerCall = 100

	// valuesPerFilter is how many values an EC2 filter takes.
	// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html
	valuesPerFilter = 200

	// itemsPerPage is the largest page of DescribeImages.
	// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeImages.html
	itemsPerPage = 1000

	// maxNameLength is the longest name of an Auto Scaling group, in characters.
	// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CreateAutoScalingGroup.html
	maxNameLength = 255
)

// Bounds on what is believed.
const (
	// packedInstances is how many instances are read together, and how many a page has. EC2 takes 1 to 3 ms for each of
	// them, so a page of a thousand may not come within headerTimeout, and would fail a hundred pools each time. This
	// many come in about a second. Pages of one group are read one after the other: up to some 1,500 instances even when
	// EC2 is slow, and 4,000 when it is not, come within batchDeadline.
	packedInstances = 400

	// minPacked and packTime: what was late is halved down to minPacked, and doubled again after packTime. Less would
	// cost more calls than EC2 lets an account make when its slowness has another reason.
	minPacked = 100
	packTime  = 5 * time.Minute

	// maxPages ends a pagination that does not end. The largest answer that is expected is one group of several
	// thousand members, or every image of a large publisher.
	maxPages = 50

	// maxImages is how many images one look-up reads. A publisher has some hundreds of one version in a region. To decode a thousand
	// takes 20 ms, and a tenant chooses the name.
	maxImages = 3_000

	// maxSplits bounds the calls that are spent to single out a bad name. Two bad ones in a hundred take 26.
	maxSplits = 32
)

// Bounds on what is read, so that an endpoint or a proxy that answers wrongly does not use up the function's memory. They
// hold for each attempt and for what is read, which nothing decompresses.
const (
	// maxHeaderBytes of a response. AWS sends 2 kB.
	maxHeaderBytes = 64 << 10

	// maxErrorBytes of an answer that is an error, of any service: the SDK keeps a copy. AWS's have 1 kB. An error that a proxy
	// makes a page of says nothing more after that.
	maxErrorBytes = 64 << 10

	// maxSigningInBytes of an answer to signing in: of STS, Pod Identity's agent or the metadata service. A session token
	// has up to some kB.
	maxSigningInBytes = 64 << 10

	// maxAnswerBytes of a page of AWS. One with packedInstances has some 3 MB, and so has a group with 4,000 members. Where
	// it is more, groups are read in halves, and instances by fewer a page, down to minPage: with every address that an
	// instance can have, so many are 5 MB.
	maxAnswerBytes = 8 << 20
	minPage        = 25

	// maxElements and maxLargeElements of a page, by what they are once they are decoded: at most 256 bytes, and up to 712
	// for instances, images and groups. So a page takes at most 50 MB beside its text, and twice that while a list grows. A
	// page has 50 bytes an element, and of the large ones at most 1,000 images, or 400 reservations with 10 each.
	maxElements      = 200_000
	maxLargeElements = 8_000

	// maxDepth of the elements, and maxTagBytes of what stands between < and >. AWS's are 12 deep, and have 100 bytes.
	maxDepth    = 64
	maxTagBytes = 1 << 10

	// maxLargeAnswers is how many answers of more than the small ones are read and decoded at a time, of all views together.
	// That is as many as one view makes calls for members, since from a region far away an answer takes its time, and two cores
	// decode no more. Each takes some 10 MB, or up to 150 MB of what decodes to the most: its text, the SDK's copy of it, and
	// what it is decoded to. Small ones, such as for three pools of 10 members, take up to 2 MB.
	maxLargeAnswers    = maxCalls
	smallBytes         = 256 << 10
	smallElements      = 5_000
	smallLargeElements = 1_000

	// maxReadBytes and maxReadElements of all pages and attempts of one read. They are 4,000 instances with 50 tags, or
	// 1,500 with the addresses of 240 Pods.
	maxReadBytes    = 128 << 20
	maxReadElements = 2_000_000

	// tailBytes is what is kept of an answer to see whether it is whole: an end tag, and the white space after it.
	tailBytes = 256

	// maxTextRunes of what AWS says in words, which goes to the status of a pool.
	maxTextRunes = 256
)

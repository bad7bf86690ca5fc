import Time

/// One payment of the story, before anybody judges it.
struct Payment {
    var at: Instant
    var person: Int
    var amount: Double
    var currency: String
    var isNewPayee: Bool
    var payee: String
    var accountAgeDays: Int64?
    /// What the person's device finds.
    var device: Double
    /// Whether somebody talks the person through it.
    var isCoached: Bool
}

/// Ninety days of payments: people with habits of their own, and now and then a victim who is
/// talked through a few large payments to somebody new.
struct Story {
    static let start = Instant(milliseconds: 1_764_547_200_000)  // 2025-12-01T00:00:00Z
    static let days = 90

    /// The payments in the order of time.
    let payments: [Payment]
    let people: Int

    private struct Person {
        var median: Double
        var currency: String
        var ageDays: Int64?
        var payees: [String]
    }

    init(count: Int, chance: inout Chance) {
        people = max(count / 5, 1)
        let persons = (0..<people).map { number in
            Person(
                median: chance.skewed(median: 35, spread: 0.8),
                currency: chance.happens(0.8) ? "EUR" : "GBP",
                ageDays: chance.happens(0.9) ? Int64(chance.between(0...1500)) : nil,
                payees: (0..<3).map { "payee \(number).\($0)" })
        }
        var made: [Payment] = []
        made.reserveCapacity(count)
        while made.count < count {
            let number = Int(Double(people) * chance.unit() * chance.unit().squareRoot())
            let moment = chance.unit() * Double(Self.days)
            let at = Self.start + .milliseconds(Int64(moment * 86_400_000))
            if chance.happens(0.004) {
                made += Self.episode(number, persons[number], at, &chance)
            } else {
                made.append(Self.ordinary(number, persons[number], at, &chance))
            }
        }
        payments = made.prefix(count).sorted { $0.at < $1.at }
    }

    private static func ordinary(
        _ number: Int, _ person: Person, _ at: Instant, _ chance: inout Chance
    ) -> Payment {
        let isNew = chance.happens(0.12)
        // A call while paying looks a little like coaching.
        let isOnCall = chance.happens(0.03)
        return Payment(
            at: at, person: number,
            amount: cents(chance.skewed(median: person.median, spread: 0.9)),
            currency: person.currency, isNewPayee: isNew,
            payee: isNew
                ? "shop \(Int(chance.between(0...5_000)))"
                : person.payees[Int(chance.between(0...2.999))],
            accountAgeDays: age(person, at),
            device: isOnCall
                ? chance.between(0.4...0.9) : min(0.6, abs(0.12 + 0.1 * chance.normal())),
            isCoached: false)
    }

    private static func episode(
        _ number: Int, _ person: Person, _ at: Instant, _ chance: inout Chance
    ) -> [Payment] {
        let payee = "mule \(Int(chance.between(0...400)))"
        return (0..<1 + Int(chance.between(0...3.999))).map { step in
            let kind = chance.unit()
            return Payment(
                at: at + .seconds(Int64(step) * 900 + Int64(chance.between(0...600))),
                person: number, amount: cents(chance.skewed(median: 650, spread: 0.7)),
                currency: person.currency, isNewPayee: step == 0 || chance.happens(0.6),
                payee: payee, accountAgeDays: age(person, at),
                device: kind < 0.6
                    ? chance.between(0.75...0.99)
                    : kind < 0.88 ? chance.between(0.4...0.75) : chance.between(0.05...0.4),
                isCoached: true)
        }
    }

    private static func age(_ person: Person, _ at: Instant) -> Int64? {
        person.ageDays.map { $0 + (at - start).milliseconds / 86_400_000 }
    }

    private static func cents(_ amount: Double) -> Double {
        (min(amount, 50_000) * 100).rounded() / 100
    }
}
